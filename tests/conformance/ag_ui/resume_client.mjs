// A stock client whose run is interrupted twice by a call that must be approved, and which answers each interrupt in its
// next run: `node resume_client.mjs VERSION approve|deny|cancel`, with RUNNEL_URL and RUNNEL_TOKEN as for
// stock_client.mjs. Fails if the client throws or warns, or if its answers do not have the effect that they should have.
import { strict as assert } from "node:assert";

import { clients, report, withoutComplaints } from "./clients.mjs";

const { RUNNEL_URL, RUNNEL_TOKEN } = process.env;
const [version, way] = process.argv.slice(2);

// The answer to an interrupt: as assistant-ui sends it, and as a client that drops the question does.
const answers = {
  approve: { status: "resolved", payload: { approved: true } },
  deny: { status: "resolved", payload: { approved: false, reason: "Not today." } },
  cancel: { status: "cancelled" },
};

// assistant-ui shows buttons only for such an interrupt.
function checkInterrupt(interrupt, messages) {
  assert.equal(interrupt.reason, "tool_call");
  const { required = [], ...schema } = interrupt.responseSchema;
  assert.deepEqual([required, schema.additionalProperties], [["approved"], undefined]);
  const calls = messages.flatMap(({ toolCalls = [] }) => toolCalls);
  assert.ok(calls.some(({ id }) => id === interrupt.toolCallId), "the call is not shown");
}

async function runOnce(agent, input) {
  const events = [];
  await withoutComplaints(() => agent.runAgent(input, { onEvent: ({ event }) => void events.push(event) }));
  assert.equal(events[0].type, "RUN_STARTED");
  assert.equal(events.at(-1).type, "RUN_FINISHED", JSON.stringify(events.at(-1)));
  return events;
}

async function resumeTwice(HttpAgent) {
  const agent = new HttpAgent({
    url: `${RUNNEL_URL}/api/v1/agent/ag-ui`,
    headers: { Authorization: `Bearer ${RUNNEL_TOKEN}` },
    initialMessages: [{ id: crypto.randomUUID(), role: "user", content: "Please." }],
  });
  await runOnce(agent, {});
  for (let number = 0; number < 2; ++number) {
    assert.equal(agent.pendingInterrupts.length, 1);
    const [interrupt] = agent.pendingInterrupts;
    checkInterrupt(interrupt, agent.messages);
    await assert.rejects(agent.runAgent({}), /pending interrupt/);
    const runId = crypto.randomUUID();
    const events = await runOnce(agent, { runId, resume: [{ interruptId: interrupt.id, ...answers[way] }] });
    assert.equal(events[0].runId, runId);
    assert.equal(events.at(-1).runId, runId);
    const results = events.filter(({ type, toolCallId }) => type === "TOOL_CALL_RESULT" && toolCallId === interrupt.toolCallId);
    assert.equal(results.length, 1);
    const { error } = JSON.parse(results[0].content);
    assert.equal(error?.code, way === "approve" ? undefined : "APPROVAL_REJECTED", results[0].content);
  }
  assert.deepEqual(agent.pendingInterrupts, []);
  assert.equal(agent.messages.at(-1).content, "Done.");
  assert.equal(agent.messages.filter(({ role }) => role === "tool").length, 2);
}

const { HttpAgent } = clients.find((client) => client.version === version);
await report([{ name: `@ag-ui/client ${version}, ${way}`, check: () => resumeTwice(HttpAgent) }]);
