// The stock clients, and functions that run one of them and check that it does not complain.
import { webcrypto } from "node:crypto";
import { HttpAgent as HttpAgent10 } from "@ag-ui/client";
import { HttpAgent as HttpAgent00 } from "ag-ui-client-0-0";

// The clients make ids with `crypto`, which is not global in Node 18, the version of Debian 12.
globalThis.crypto ??= webcrypto;

// The same agent, except that it reads the events of a run that exists: its address is the one of the run's event stream.
const follower = (HttpAgent) =>
  class extends HttpAgent {
    requestInit() {
      return { headers: { ...this.headers, Accept: "text/event-stream" }, signal: this.abortController.signal };
    }
  };

export const clients = [HttpAgent10, HttpAgent00].map((HttpAgent, i) => ({
  version: ["1.0", "0.0"][i],
  HttpAgent,
  Follower: follower(HttpAgent),
}));

// Runs `work` and throws if it throws or if anything is written to console.warn or console.error meanwhile.
export async function withoutComplaints(work) {
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

// Makes one run with a stock agent, to the end of its stream. `messages` are what the agent knows before it, by default
// what the user says. Returns the events that subscribers saw, in order, and the messages that the agent has then.
export async function run(HttpAgent, options) {
  const { url, headers = {}, message, threadId, runId, forwardedProps = {}, timeoutMs = 20_000 } = options;
  const messages = options.messages ?? [{ id: crypto.randomUUID(), role: "user", content: message }];
  const agent = new HttpAgent({ url, headers, threadId, initialMessages: messages });
  const events = [];
  const timer = setTimeout(() => agent.abortRun(), timeoutMs);
  try {
    await withoutComplaints(() => agent.runAgent({ runId, forwardedProps }, { onEvent: ({ event }) => void events.push(event) }));
  } finally {
    clearTimeout(timer);
  }
  if (events.some((event) => event.type === "RUN_ERROR" && event.code === "abort")) {
    throw new Error(`the run did not end within ${timeoutMs} ms`);
  }
  return { events, messages: agent.messages };
}

// Runs the cases one after the other and prints their results. The exit status says whether all passed.
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
