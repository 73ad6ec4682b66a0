// Runs both stock clients against a live server: RUNNEL_URL (its base address) and RUNNEL_TOKEN (a user's token).
// RUNNEL_MESSAGE is what the user says. Fails if a client throws or warns, or if the run does not finish with text.
import { strict as assert } from "node:assert";

import { clients, report, run } from "./clients.mjs";

const { RUNNEL_URL, RUNNEL_TOKEN, RUNNEL_MESSAGE = "Hello" } = process.env;
if (!RUNNEL_URL || !RUNNEL_TOKEN) {
  console.error("set RUNNEL_URL and RUNNEL_TOKEN");
  process.exit(2);
}

async function checkRun(HttpAgent) {
  const { events, messages } = await run(HttpAgent, {
    url: `${RUNNEL_URL.replace(/\/$/, "")}/api/v1/agent/ag-ui`,
    headers: { Authorization: `Bearer ${RUNNEL_TOKEN}` },
    message: RUNNEL_MESSAGE,
  });
  assert.equal(events[0]?.type, "RUN_STARTED");
  const last = events.at(-1);
  assert.equal(last.type, "RUN_FINISHED", JSON.stringify(last));
  assert.ok(events.some((event) => event.type === "TEXT_MESSAGE_CONTENT"), "no text was streamed");
  assert.ok(messages.some(({ role, content }) => role === "assistant" && content), "no answer");
}

await report(
  clients.map(({ version, HttpAgent }) => ({ name: `@ag-ui/client ${version}`, check: () => checkRun(HttpAgent) })),
);
