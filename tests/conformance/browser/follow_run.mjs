// Follows a run in Chromium as a page would: by EventSource and by WebSocket, from a page of the server, and from a page of
// another origin. RUNNEL_VISIT is a JSON object: `page`, the address of a page of the server; `types`, the names of events;
// `own` and `foreign`, each {"events", "socket"}: addresses with a ticket. Prints as JSON what the pages have seen.
import { createServer } from "node:http";

import { chromium } from "playwright-core";

import { options } from "../chromium.mjs";

const { page: ownPage, types, own, foreign } = JSON.parse(process.env.RUNNEL_VISIT);

// These two run inside a page.

// Reads until the browser gives up by itself. It comes back by itself when a connection is lost.
const readEvents = ({ url, types }) =>
  new Promise((done) => {
    const seen = [];
    const source = new EventSource(url);
    for (const type of types) {
      source.addEventListener(type, ({ lastEventId, data }) => seen.push({ id: lastEventId, type, data }));
    }
    let opened = 0;
    source.onopen = () => ++opened;
    source.onerror = () => source.readyState === EventSource.CLOSED && done({ opened, seen });
  });

const readSocket = ({ url }) =>
  new Promise((done) => {
    const seen = [];
    const socket = new WebSocket(url);
    socket.onmessage = ({ data }) => seen.push(data);
    socket.onclose = ({ code }) => done({ seen, code });
  });

async function visit(browser, address, { events, socket }) {
  const page = await browser.newPage();
  await page.goto(address);
  const [byEvents, bySocket] = await Promise.all([
    page.evaluate(readEvents, { url: events, types }),
    page.evaluate(readSocket, { url: socket }),
  ]);
  return { events: byEvents, socket: bySocket };
}

const elsewhere = createServer((request, response) => {
  response.writeHead(200, { "content-type": "text/html" });
  response.end("<!doctype html><title>Another origin</title>");
});
await new Promise((ready) => elsewhere.listen(0, "127.0.0.1", ready));
const browser = await chromium.launch(options);
try {
  const [ownSeen, foreignSeen] = await Promise.all([
    visit(browser, ownPage, own),
    visit(browser, `http://127.0.0.1:${elsewhere.address().port}/`, foreign),
  ]);
  console.log(JSON.stringify({ version: browser.version(), own: ownSeen, foreign: foreignSeen }));
} finally {
  await browser.close();
  elsewhere.close();
  elsewhere.closeAllConnections();
}
