// The stock clients in use, and what watches over one run of such a client.
import { webcrypto } from "node:crypto";
import { HttpAgent as HttpAgent10 } from "@ag-ui/client";
import { HttpAgent as HttpAgent00 } from "ag-ui-client-0-0";

// Node 18, which Debian 12 has, does not make it global; the clients mint ids with it.
globalThis.crypto ??= webcrypto;

export const clients = [
  { version: "1.0", HttpAgent: HttpAgent10 },
  { version: "0.0", HttpAgent: HttpAgent00 },
];

// Runs `work` and throws if it throws or if anything is written to console.warn or console.error meanwhile.
async function withoutComplaints(work) {
  const complaints = [];
  const { warn, error } = console;
  console.warn = (...words) => complaints.push(words.map(String).join(" "));
  console.error = console.warn;
  try {
    await work();
  } finally {
    Object.assign(console, { warn, error });
  }
  if (complaints.length > 0) throw new Error(`the client complains: ${complaints.join("; ")}`);
}

// One run of a stock agent to the end of its stream. Gives the events that subscribers saw, in order.
export async function run(HttpAgent, { url, headers = {}, message, timeoutMs = 20_000 }) {
  const agent = new HttpAgent({
    url,
    headers,
    initialMessages: [{ id: crypto.randomUUID(), role: "user", content: message }],
  });
  const events = [];
  const timer = setTimeout(() => agent.abortRun(), timeoutMs);
  try {
    await withoutComplaints(() => agent.runAgent({}, { onEvent: ({ event }) => void events.push(event) }));
  } finally {
    clearTimeout(timer);
  }
  if (events.some((event) => event.type === "RUN_ERROR" && event.code === "abort")) {
    throw new Error(`no end of the run within ${timeoutMs} ms`);
  }
  return { events, messages: agent.messages };
}

// Runs the cases one after the other and prints what became of them. The exit status says whether all passed.
export async function report(cases) {
  let failed = 0;
  for (const { name, check } of cases) {
    try {
      await check();
    } catch (error) {
      ++failed;
      console.log(`FAILED ${name}: ${error.message}`);
    }
  }
  console.log(`${cases.length - failed} passed, ${failed} failed`);
  process.exitCode = failed === 0 && cases.length > 0 ? 0 : 1;
}
