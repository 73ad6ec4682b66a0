// Feeds each golden ag-ui transcript to the stock client of its version, over HTTP as a server would. Other transcripts
// can be named: `node verify_golden.mjs FOLDER`, with files called NAME.ag-ui-1.0.sse and NAME.ag-ui-0.0.sse.
// Fails if the client throws, warns, or sees other events than those in the transcript.
import { strict as assert } from "node:assert";
import { readFileSync, readdirSync } from "node:fs";
import { createServer } from "node:http";
import { pathToFileURL } from "node:url";

import { clients, report, run } from "./clients.mjs";

const folder = process.argv[2] ? pathToFileURL(`${process.argv[2]}/`) : new URL("../golden/", import.meta.url);

const server = createServer((request, response) => {
  request.resume();
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  response.end(readFileSync(new URL(request.url.slice(1), folder)));
});
await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
const base = `http://127.0.0.1:${server.address().port}`;

// The JSON of each frame, parsed by code that the clients do not share.
function framesOf(file) {
  return readFileSync(new URL(file, folder), "utf8")
    .split("\n\n")
    .filter((frame) => frame !== "")
    .map((frame) => JSON.parse(frame.split("\n").find((line) => line.startsWith("data: ")).slice(6)));
}

// Each message has the joined text of its deltas, and nothing else. A list of messages takes those away that it lacks.
function checkTexts(frames, messages) {
  const texts = new Map();
  for (const { type, messageId, delta, messages: kept } of frames) {
    if (type === "TEXT_MESSAGE_CONTENT") texts.set(messageId, (texts.get(messageId) ?? "") + delta);
    if (type !== "MESSAGES_SNAPSHOT") continue;
    for (const id of texts.keys()) if (!kept.some((message) => message.id === id)) texts.set(id, undefined);
  }
  for (const [id, text] of texts) {
    assert.equal(messages.find((message) => message.id === id)?.content, text, `text of ${id}`);
  }
}

async function verify(file, HttpAgent) {
  const frames = framesOf(file);
  const { events, messages } = await run(HttpAgent, { url: `${base}/${file}`, message: "hi" });
  assert.deepEqual(
    events.map((event) => event.type),
    frames.map((frame) => frame.type),
  );
  for (const [i, frame] of frames.entries()) {
    for (const key of Object.keys(frame)) assert.deepEqual(events[i][key], frame[key], `${frame.type}.${key}`);
  }
  checkTexts(frames, messages);
}

const cases = clients.flatMap(({ version, HttpAgent }) =>
  readdirSync(folder)
    .filter((file) => file.endsWith(`.ag-ui-${version}.sse`))
    .map((file) => ({ name: file, check: () => verify(file, HttpAgent) })),
);
await report(cases);
server.close();
