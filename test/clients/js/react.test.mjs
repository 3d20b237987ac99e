// useStream, the React hook of the SDK, in a page: what a chat does with a server.
import { after, afterEach } from "node:test";
import { JSDOM } from "jsdom";
import { answers, agent, assert, client, sdk, test, textOf, thread, until, url } from "./lib.mjs";

const dom = new JSDOM("<!doctype html><div id=root></div>", { url: "http://localhost/" });
globalThis.window = dom.window;
globalThis.document = dom.window.document;
if (!globalThis.navigator) globalThis.navigator = dom.window.navigator; // node has one since 21
globalThis.IS_REACT_ACT_ENVIRONMENT = false;

const { createElement, useEffect, useState } = await import("react");
const { createRoot } = await import("react-dom/client");
const { useStream } = await import(`${sdk}/react`);
const c = client();
const pages = new Set();
afterEach(() => pages.forEach((page) => page.close())); // also of a test that failed
after(() => dom.window.close());

/**
 * chat shows a thread with the hook; page.now is what the hook returned last, page.seen every state of the last message.
 */
function chat(options) {
  const page = { now: null, seen: [""], messages: [], errors: [] };
  function Chat() {
    const [threadId, onThreadId] = useState(options.threadId ?? null);
    const stream = useStream({
      apiUrl: url, apiKey: null, assistantId: agent, callerOptions: { maxRetries: 0 },
      onError: (e) => page.errors.push(e), ...options, threadId, onThreadId: (id) => { onThreadId(id); page.threadId = id; },
    });
    // This runs after the effects of useStream, one of which cuts the stream of a thread that was made before it ran.
    useEffect(() => { page.mounted = true; }, []);
    page.now = stream;
    page.messages = stream.messages; // the getter also tells the hook which modes to ask for
    const last = stream.messages.at(-1);
    page.seen.push(last ? `${last.type}:${textOf(last)}` : "");
    return createElement("p", null, page.seen.at(-1));
  }
  page.threadId = options.threadId;
  const root = createRoot(document.getElementById("root").appendChild(document.createElement("div")));
  root.render(createElement(Chat));
  page.close = () => pages.delete(page) && root.unmount();
  pages.add(page);
  return page;
}

const say = (text) => ({ messages: [{ type: "human", content: text }] });
const idle = (page) => until("the hook to be idle", () => page.mounted && !page.now.isLoading && !page.now.isThreadLoading);

/** submit sends a message and waits until what is shown last fits want. */
async function submit(page, text, want, options) {
  await page.now.submit(text === null ? null : say(text), options);
  await until(() => `${want} in ${page.seen.at(-1)} of ${JSON.stringify(page.messages)}`, () => want.test(page.seen.at(-1)) || page.errors.length > 0);
  await idle(page);
  assert.deepEqual(page.errors, []);
}

test("submit: a thread is made, the answer comes token by token", async () => {
  const page = chat({ fetchStateHistory: { limit: 1 } });
  await idle(page);
  await submit(page, "look around", /^ai:I have looked around\.$/, { streamMode: ["messages-tuple", "values"] });
  assert.ok(page.threadId);
  const pieces = new Set(page.seen.filter((s) => s !== "ai:" && s.startsWith("ai:") && "ai:I have looked around.".startsWith(s)));
  assert.ok(pieces.size >= 3, `the answer came in ${pieces.size} pieces: ${[...pieces]}`);
  assert.deepEqual(page.messages.filter((m) => m.type !== "system").map((m) => m.type), ["human", "ai", "tool", "ai"]);
  await submit(page, "recall all", /^ai:I remember: [^]*look around[^]*recall all/);
  page.close();
});

test("updates and custom events reach their callbacks", async () => {
  const updates = [];
  const custom = [];
  const page = chat({ fetchStateHistory: { limit: 1 }, onUpdateEvent: (e) => updates.push(e), onCustomEvent: (e) => custom.push(e) });
  await idle(page);
  await submit(page, "retry please", /^ai:/);
  assert.ok(updates.some((u) => "model" in u));
  assert.equal(custom[0].type, "llm_retry");
  page.close();
});

test("stop: the stream ends and the run is cancelled", async () => {
  const id = await thread(c);
  const page = chat({ threadId: id, reconnectOnMount: true, fetchStateHistory: { limit: 1 } });
  await idle(page);
  page.now.submit(say("slow"), { streamMode: ["messages-tuple", "values"] });
  await until("the first words", () => page.seen.at(-1).startsWith("ai:Slow"));
  await page.now.stop();
  await idle(page);
  const run = await until("the cancelled run", async () => (await c.runs.list(id)).find((r) => r.status === "interrupted"));
  assert.ok(run);
  await submit(page, "hello", /^ai:Hello from the script\.$/);
  page.close();
});

test("reconnectOnMount: a page that is loaded again follows the run to its end", async () => {
  const id = await thread(c);
  const options = { threadId: id, reconnectOnMount: true, fetchStateHistory: { limit: 1 } };
  const page = chat(options);
  await idle(page);
  page.now.submit(say("tokens please"), { streamMode: ["messages-tuple", "values"], onDisconnect: "continue" });
  await until("some words", () => page.seen.at(-1).startsWith("ai:One roe"));
  page.close();
  const again = chat(options);
  await until("the end in the second page", () => again.seen.at(-1).endsWith("and more.") && !again.now.isLoading && again.messages.some((m) => m.type === "tool"));
  const { values } = await c.threads.getState(id);
  assert.deepEqual(answers({ messages: again.messages }), answers(values));
  assert.deepEqual(again.errors, []);
  assert.equal(window.sessionStorage.getItem(`lg:stream:${id}`), null);
  again.close();
});

test("interrupt: the question is shown, also after a reload, and the answer resumes", async () => {
  const id = await thread(c);
  const options = { threadId: id, fetchStateHistory: true };
  const page = chat(options);
  await idle(page);
  await submit(page, "ask me", /^ai:I ask first\.$/);
  await until("the question", () => page.now.interrupt);
  const question = page.now.interrupt;
  assert.equal(question.value.action_requests[0].name, "delete");
  page.close();

  const again = chat(options);
  await idle(again);
  assert.deepEqual(again.now.interrupt.value, question.value);
  await submit(again, null, /^ai:The human said: .*approve/, { command: { resume: { decisions: [{ type: "approve" }] } } });
  assert.equal(again.now.interrupt, undefined);
  again.close();
});

test("history: an edited message makes a branch, and both can be shown", async () => {
  const page = chat({ fetchStateHistory: { limit: 100 } });
  await idle(page);
  await submit(page, "recall left", /^ai:I remember: .*left/s);
  const first = page.messages.find((m) => m.type === "human");
  const { firstSeenState } = page.now.getMessagesMetadata(first);
  assert.ok(firstSeenState.checkpoint.checkpoint_id);
  assert.ok(firstSeenState.parent_checkpoint, "the first message has a state before it, to which a chat goes back to edit it");
  await submit(page, "recall right", /^ai:I remember: .*right/s, { checkpoint: firstSeenState.parent_checkpoint });
  assert.doesNotMatch(page.seen.at(-1), /left/);

  const right = page.messages.find((m) => m.type === "human");
  const { branch, branchOptions } = page.now.getMessagesMetadata(right);
  assert.equal(branchOptions?.length, 2);
  page.now.setBranch(branchOptions.find((b) => b !== branch));
  await until("the other branch", () => /recall left/.test(page.seen.at(-1)));
  assert.ok(page.now.history.length > 0);
  page.close();
});
