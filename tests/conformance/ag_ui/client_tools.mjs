// AGUI-6: a stock client (argument: 1.0 or 0.0) that brings a tool, with a live server whose model calls it twice at
// once, then once, then answers; then calls it again, gets a user message instead, and answers. RUNNEL_URL and
// RUNNEL_TOKEN as for stock_client.mjs. Fails if the client throws or warns, or if its messages are not the history's.
import { strict as assert } from "node:assert";

import { clients, report, withoutComplaints } from "./clients.mjs";

const { RUNNEL_URL, RUNNEL_TOKEN } = process.env;
const headers = { Authorization: `Bearer ${RUNNEL_TOKEN}` };
const base = RUNNEL_URL.replace(/\/$/, "");
const TOOL = {
  name: "set_color",
  description: "Sets the color of the page.",
  parameters: { type: "object", properties: { color: { type: "string" } }, required: ["color"] },
};

// The calls of the agent's messages that have no result, as front ends find them.
function openCalls(agent) {
  const answered = new Set(agent.messages.filter(({ role }) => role === "tool").map(({ toolCallId }) => toolCallId));
  return agent.messages.flatMap(({ toolCalls }) => toolCalls ?? []).filter(({ id }) => !answered.has(id));
}

// Puts the result right behind the message of its call, as CopilotKit does.
function answer(agent, call, content) {
  const at = agent.messages.findIndex(({ toolCalls }) => toolCalls?.some(({ id }) => id === call.id));
  const message = { id: crypto.randomUUID(), role: "tool", toolCallId: call.id, content };
  agent.setMessages([...agent.messages.slice(0, at + 1), message, ...agent.messages.slice(at + 1)]);
}

async function runOnce(agent) {
  const events = [];
  await withoutComplaints(() =>
    agent.runAgent({ tools: [TOOL], forwardedProps: { flow: "chat" } }, { onEvent: ({ event }) => void events.push(event) }),
  );
  assert.equal(events.at(-1)?.type, "RUN_FINISHED", JSON.stringify(events.at(-1)));
  return events;
}

async function history(agent) {
  const response = await fetch(`${base}/api/v1/agent/history?threadId=${agent.threadId}`, { headers });
  assert.equal(response.status, 200);
  return (await response.json()).messages;
}

// By id: the client keeps a call beside its result, and the history keeps what came first first.
async function checkMessages(agent) {
  const stored = new Map((await history(agent)).map((row) => [row.id, row]));
  assert.deepEqual([...stored.keys()].sort(), agent.messages.map(({ id }) => id).sort());
  for (const message of agent.messages) {
    const row = stored.get(message.id);
    assert.equal(row.role, message.role);
    if (message.toolCalls) {
      assert.equal(row.toolCallId, message.toolCalls[0].id);
      assert.deepEqual(JSON.parse(row.content), JSON.parse(message.toolCalls[0].function.arguments));
    } else {
      assert.equal(row.content, message.content);
      assert.equal(row.toolCallId, message.toolCallId);
    }
  }
}

async function roundTrip({ version, HttpAgent }) {
  const agent = new HttpAgent({ url: `${base}/api/v1/agent/ag-ui`, headers });
  const say = (content) => agent.setMessages([...agent.messages, { id: crypto.randomUUID(), role: "user", content }]);

  say("paint it");
  const first = await runOnce(agent);
  const calls = openCalls(agent);
  assert.deepEqual(calls.map((call) => JSON.parse(call.function.arguments)), [{ color: "red" }, { color: "blue" }]);
  const pending = version === "1.0" ? calls.map(({ id }) => id) : undefined;
  assert.deepEqual(first.at(-1).outcome?.pendingToolCallIds, pending);

  answer(agent, calls[0], "red");
  answer(agent, calls[1], "blue");
  await runOnce(agent);
  const [again] = openCalls(agent);
  assert.ok(again, "the second call");
  await checkMessages(agent);

  answer(agent, again, "red at last");
  await runOnce(agent);
  assert.equal(agent.messages.at(-1).content, "All is red.");
  await checkMessages(agent);

  say("and blue");
  await runOnce(agent);
  assert.equal(openCalls(agent).length, 1);
  say("no, leave it");
  await runOnce(agent);
  assert.equal(openCalls(agent).length, 0);
  assert.match(agent.messages.filter(({ role }) => role === "tool").at(-1).content, /CLIENT_TOOL_ABANDONED/);
  await checkMessages(agent);
}

const chosen = clients.filter(({ version }) => version === process.argv[2]);
await report(chosen.map((client) => ({ name: `@ag-ui/client ${client.version}`, check: () => roundTrip(client) })));
