// What the suites share: which server and which SDK they test, how they wait, and what they expect of a stream.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test as nodeTest } from "node:test";

export { assert, randomUUID };

/** Address of the server under test, without a slash at the end. */
export const url = process.env.PUDU_URL ?? "http://127.0.0.1:2024";
/** Name of the SDK under test, as package.json calls it. */
export const sdk = process.env.PUDU_SDK ?? "sdk-1.12";
export const { Client } = await import(sdk);
/** The assistant of all runs. */
export const agent = "lead_agent";
export const modern = sdk !== "sdk-1.6";

/** client makes a client; unlike the SDK's default it does not repeat what failed, so that a failure shows. */
export function client(apiUrl = url, options = {}) {
  return new Client({ apiUrl, apiKey: null, callerOptions: { maxRetries: 0 }, ...options });
}

/** test is node's, with a deadline. */
export function test(name, fn, timeout = 30_000) {
  nodeTest(`${name} [${sdk}]`, { timeout }, fn);
}

/** human is an input with one message. */
export function human(text, more = {}) {
  return { messages: [{ type: "human", content: text, ...more }] };
}

/** thread makes a thread. */
export async function thread(c = client(), options = {}) {
  return (await c.threads.create(options)).thread_id;
}

export function textOf(message) {
  if (typeof message.content === "string") return message.content;
  return message.content.map((part) => part.text ?? "").join("");
}

/** visible are the messages that a client shows. */
export function visible(values) {
  return values.messages.filter((m) => !m.additional_kwargs?.hide_from_ui && m.type !== "system");
}

export function lastText(values) {
  return textOf(values.messages.at(-1));
}

/** answers are the texts of the AI messages. */
export function answers(values) {
  return values.messages.filter((m) => m.type === "ai").map(textOf);
}

/** collect reads a stream to its end. Comments come out of the SDK as frames without a name; they are dropped. */
export async function collect(stream, each = () => {}) {
  const frames = [];
  for await (const frame of stream) {
    if (frame.event === "") continue;
    frames.push(frame);
    await each(frame, frames);
  }
  return frames;
}

/** of selects the frames of one mode, those of subgraphs left out. */
export function of(frames, event) {
  return frames.filter((f) => f.event === event);
}

/** names lists the events, repetitions put together. */
export function names(frames) {
  return frames.map((f) => f.event).filter((e, i, all) => e !== all[i - 1]);
}

const idForm = /^(\d+)-(\d+)(?:\.(\d+))?$/;

/** parseID reads an id. The frames of one event are 1-3.1, 1-3.2 and so on; the last of them is 1-3. */
function parseID(id) {
  const parts = idForm.exec(id ?? "");
  assert.ok(parts, `frame id ${JSON.stringify(id)} is not of the form <attempt>-<n>[.<k>]`);
  return [Number(parts[1]), Number(parts[2]), Number(parts[3] ?? Infinity)];
}

/** checkStream asserts what holds for the stream of every run: its ids grow, metadata comes first and end last. */
export function checkStream(frames) {
  let last = null;
  for (const frame of frames) {
    const id = parseID(frame.id);
    if (last) {
      const at = id.findIndex((n, i) => n !== last[i]);
      assert.ok(at >= 0 && id[at] > last[at], `id ${frame.id} of ${frame.event} does not grow after ${last}`);
    }
    last = id;
  }
  assert.equal(frames[0]?.event, "metadata");
  assert.ok(frames[0].data.run_id, "metadata has a run_id");
  assert.equal(frames.at(-1).event, "end");
}

/** sameFrames asserts that two readers of one run saw the same. */
export function sameFrames(got, want) {
  const brief = (frames) => frames.map((f) => `${f.id} ${f.event}`);
  assert.deepEqual(brief(got), brief(want));
  assert.deepEqual(got, want);
}

/** until waits for a condition that nothing announces. What it waited for may be told by a function, in the moment of the failure. */
export async function until(what, condition, ms = 20_000) {
  const end = Date.now() + ms;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > end) assert.fail(`waited ${ms} ms for ${typeof what === "function" ? what() : what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** ended waits for a run's end and returns the run. */
export async function ended(c, threadID, runID) {
  return until(`the end of run ${runID}`, async () => {
    const run = await c.runs.get(threadID, runID);
    return ["pending", "running"].includes(run.status) ? null : run;
  });
}

/** started begins a run in the background and waits until it speaks, so that it is surely under way. */
export async function started(c, threadID, text = "slow", options = {}) {
  const run = await c.runs.create(threadID, agent, { input: human(text), streamMode: ["messages-tuple", "values"], ...options });
  for await (const frame of c.runs.joinStream(threadID, run.run_id, { lastEventId: "-1" })) {
    if (frame.event === "messages" && frame.data[0].type !== "human" && textOf(frame.data[0]) !== "") return run;
  }
  throw new Error("the run ended without a word");
}

/** refused asserts that a call fails with an HTTP status, and returns what the server said. */
export async function refused(status, promise) {
  const error = await promise.then(
    (value) => assert.fail(`expected HTTP ${status}, got ${JSON.stringify(value)?.slice(0, 200)}`),
    (e) => e,
  );
  assert.match(error.message, new RegExp(`^HTTP ${status}: `));
  assert.equal(error.status, status);
  const body = JSON.parse(error.message.slice(`HTTP ${status}: `.length));
  assert.ok(body.detail, "an error has a detail");
  return body.detail;
}
