// Reads a list of runs from its standard input, one JSON object a line, and gives each to a stock client. For each line it
// prints one, as soon as the stream of the run has ended: what the client made of it.
//
// A line is {"number":1,"client":"1.0"|"0.0","url":…,"token":…,"threadId":…,"runId":…,"messages":[…]}. The client makes this
// run, or with "follow":true reads the event stream of a run that exists. `messages` are what it knows before.
// The answer is {"number":1,"events":[…],"messages":[…]}, or {"number":1,"error":…} if the client threw or complained.
import { createInterface } from "node:readline";

import { clients, run } from "./clients.mjs";

async function give({ client, token, follow = false, ...options }) {
  const { HttpAgent, Follower } = clients.find(({ version }) => version === client);
  return run(follow ? Follower : HttpAgent, { ...options, headers: { Authorization: `Bearer ${token}` } });
}

for await (const line of createInterface({ input: process.stdin })) {
  const { number, ...options } = JSON.parse(line);
  const answer = await give(options).catch((error) => ({ error: `${error.name}: ${error.message}` }));
  process.stdout.write(`${JSON.stringify({ number, ...answer })}\n`);
}
