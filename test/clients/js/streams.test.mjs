// Streams: every mode alone, several at once, joined late, by several readers.
import { agent, answers, assert, checkStream, client, collect, human, lastText, names, of, sameFrames, test, textOf, thread } from "./lib.mjs";

const c = client();

async function stream(text, streamMode, more = {}) {
  const id = more.thread ?? (await thread(c));
  let created;
  const frames = await collect(c.runs.stream(id, agent, { input: human(text), streamMode, onRunCreated: (r) => (created = r), ...more }));
  checkStream(frames);
  assert.deepEqual([created.thread_id, created.run_id], [id, frames[0].data.run_id], "Content-Location names the run");
  return { id, run: created.run_id, frames };
}

/** folded puts the chunks of a message together, as a client does. */
function folded(frames) {
  const messages = new Map();
  for (const { data } of of(frames, "messages")) {
    const [message, metadata] = data;
    assert.ok(message.id, "a message has an id");
    assert.equal(typeof metadata, "object");
    const old = messages.get(message.id) ?? { ...message, text: "", args: "", kinds: new Set(), tool: undefined };
    old.kinds.add(message.type);
    old.text += textOf(message);
    for (const chunk of message.tool_call_chunks ?? []) {
      old.tool = chunk.name ?? old.tool;
      old.args += chunk.args ?? "";
    }
    messages.set(message.id, old);
  }
  return [...messages.values()];
}

test("values: the state after each step, the first with the input", async () => {
  const { frames } = await stream("look around", "values");
  assert.deepEqual(names(frames), ["metadata", "values", "end"]);
  const values = of(frames, "values").map((f) => f.data);
  assert.equal(values[0].messages.length, 1);
  assert.equal(textOf(values[0].messages[0]), "look around");
  assert.ok(values[0].messages[0].id, "input messages get an id");
  assert.deepEqual(answers(values.at(-1)), ["I look.", "I have looked around."]);
  for (const [i, v] of values.entries()) assert.ok(v.messages.length >= (values[i - 1]?.messages.length ?? 0), "it only grows");
});

test("values is the default", async () => {
  const { frames } = await stream("hello", undefined);
  assert.deepEqual(names(frames), ["metadata", "values", "end"]);
});

test("updates: one object per node", async () => {
  const { frames } = await stream("look around", "updates");
  assert.deepEqual(names(frames), ["metadata", "updates", "end"]);
  const nodes = of(frames, "updates").flatMap((f) => Object.keys(f.data));
  assert.deepEqual(nodes.filter((n) => n === "model" || n === "tools"), ["model", "tools", "model"]);
  const tools = of(frames, "updates").find((f) => f.data.tools).data.tools;
  assert.equal(tools.messages[0].type, "tool");
});

test("messages-tuple: token by token, whole messages at the end", async () => {
  const { id, frames } = await stream("look around", "messages-tuple");
  assert.deepEqual(names(frames), ["metadata", "messages", "end"]);
  const { values } = await c.threads.getState(id);
  const seen = folded(frames).filter((m) => m.type !== "human");
  const want = values.messages.filter((m) => m.type === "ai" || m.type === "tool");
  assert.deepEqual(seen.map((m) => [m.id, m.text]), want.map((m) => [m.id, textOf(m)]), "the chunks make the messages of the state");
  const [first, tool, second] = seen;
  assert.deepEqual([...first.kinds], ["AIMessageChunk"]);
  assert.equal(first.tool, "ls");
  assert.deepEqual(JSON.parse(first.args), want[0].tool_calls[0].args);
  assert.equal(tool.tool_call_id, want[0].tool_calls[0].id);
  assert.ok(of(frames, "messages").filter((f) => f.data[0].id === second.id).length >= 5, "more than one piece");
  const [, metadata] = of(frames, "messages").find((f) => f.data[0].id === second.id).data;
  assert.equal(metadata.langgraph_node, "model");
  assert.ok("langgraph_step" in metadata && "langgraph_checkpoint_ns" in metadata);
});

test("custom: what the parts of the agent say", async () => {
  const { frames } = await stream("retry please", "custom");
  assert.deepEqual(names(frames), ["metadata", "custom", "end"]);
  assert.equal(of(frames, "custom")[0].data.type, "llm_retry");
  const quiet = await stream("hello", "custom");
  assert.deepEqual(names(quiet.frames), ["metadata", "end"]);
});

test("tasks: each task begins and ends", async () => {
  const { frames } = await stream("look around", "tasks");
  assert.deepEqual(names(frames), ["metadata", "tasks", "end"]);
  const tasks = of(frames, "tasks").map((f) => f.data);
  const begun = tasks.filter((t) => "input" in t);
  const ended = tasks.filter((t) => "result" in t || "error" in t);
  assert.deepEqual(ended.map((t) => t.id).sort(), begun.map((t) => t.id).sort());
  for (const t of begun) for (const key of ["id", "name", "triggers"]) assert.ok(key in t, `a start has ${key}`);
  for (const t of ended) for (const key of ["id", "name", "interrupts"]) assert.ok(key in t, `an end has ${key}`);
  assert.ok(begun.some((t) => t.name === "model") && begun.some((t) => t.name === "tools"));
});

test("checkpoints: what the history then shows", async () => {
  const { id, frames } = await stream("look around", "checkpoints");
  assert.deepEqual(names(frames), ["metadata", "checkpoints", "end"]);
  const points = of(frames, "checkpoints").map((f) => f.data);
  for (const p of points) for (const key of ["values", "metadata", "next", "tasks", "config"]) assert.ok(key in p, `it has ${key}`);
  assert.deepEqual(points.at(-1).next, []);
  const history = await c.threads.getHistory(id, { limit: 100 });
  const [empty, ...ids] = history.map((s) => s.checkpoint.checkpoint_id).reverse();
  assert.equal(empty, "0"); // what was before the first one
  assert.deepEqual(points.map((p) => p.config.configurable.checkpoint_id), ids);
});

test("debug: checkpoints and tasks with their step and time", async () => {
  const { frames } = await stream("look around", "debug");
  assert.deepEqual(names(frames), ["metadata", "debug", "end"]);
  const types = new Set(of(frames, "debug").map((f) => f.data.type));
  assert.deepEqual([...types].sort(), ["checkpoint", "task", "task_result"]);
  for (const { data } of of(frames, "debug")) {
    assert.equal(typeof data.step, "number");
    assert.ok(Date.parse(data.timestamp) > 0);
    assert.equal(typeof data.payload, "object");
  }
  assert.doesNotMatch(JSON.stringify(frames), /api_key/i);
});

test("several modes at once: each as if alone, in one order", async () => {
  const modes = ["values", "updates", "messages-tuple", "custom", "tasks", "checkpoints", "debug"];
  const { frames } = await stream("look around", modes);
  const events = new Set(frames.map((f) => f.event));
  for (const event of ["values", "updates", "messages", "tasks", "checkpoints", "debug"]) assert.ok(events.has(event), event);
  const at = (match) => frames.findIndex(match);
  const text = at((f) => f.event === "messages" && f.data[0].type === "AIMessageChunk");
  const update = at((f) => f.event === "updates" && f.data.model);
  const value = at((f) => f.event === "values" && answers(f.data).length === 1);
  assert.ok(0 < text && text < update && update < value, `${text} ${update} ${value}: chunks, then the update, then the values`);
});

test("two calls side by side: their results come in one step", async () => {
  const { frames } = await stream("both please", ["updates", "values"]);
  const values = of(frames, "values").at(-1).data;
  const calls = values.messages.find((m) => m.tool_calls?.length === 2).tool_calls.map((call) => call.id);
  const results = values.messages.filter((m) => m.type === "tool").map((m) => m.tool_call_id);
  assert.deepEqual(results, calls, "in the order of the calls");
});

test("streamSubgraphs: names of the root stay bare", async () => {
  const { frames } = await stream("look around", ["values", "updates", "messages-tuple"], { streamSubgraphs: true });
  assert.deepEqual(frames.filter((f) => f.event.includes("|")), []);
});

test("a second turn: the messages of the first come along", async () => {
  const { id } = await stream("hello", "values");
  const { frames } = await stream("recall everything", "values", { thread: id });
  assert.match(lastText(of(frames, "values").at(-1).data), /hello[^]*Hello from the script\.[^]*recall everything/);
});

test("a failed model call: no broken stream, the run says error", async () => {
  const { id, run, frames } = await stream("fail please", ["values", "messages-tuple"]);
  assert.equal(frames.at(-1).event, "end");
  assert.equal((await c.runs.get(id, run)).status, "error");
});

test("modes that do not exist are refused", async () => {
  const id = await thread(c);
  for (const mode of ["nonsense", ["values", "nonsense"]]) {
    await assert.rejects(collect(c.runs.stream(id, agent, { input: human("hello"), streamMode: mode })), /^Error: HTTP 422/);
  }
});

test("every reader sees the same: live, late, after the end, from the middle", async () => {
  const modes = ["values", "updates", "messages-tuple", "custom"];
  const id = await thread(c);
  const run = await c.runs.create(id, agent, { input: human("tokens please"), streamMode: modes });
  const join = (options) => collect(c.runs.joinStream(id, run.run_id, { streamMode: modes, ...options }));
  const [one, two] = await Promise.all([join({ lastEventId: "-1" }), join({ lastEventId: "-1" })]);
  checkStream(one);
  sameFrames(two, one);
  sameFrames(await join({ lastEventId: "-1" }), one);
  sameFrames(await join({}), one);
  for (const part of [0, 0.1, 0.33, 0.5, 0.77, 1]) {
    const at = Math.min(Math.floor(one.length * part), one.length - 2);
    sameFrames(await join({ lastEventId: one[at].id }), one.slice(at + 1));
  }
});

test("a join honours the modes it asks for", async () => {
  const id = await thread(c);
  const run = await c.runs.create(id, agent, { input: human("look around"), streamMode: ["values", "messages-tuple"] });
  const join = (streamMode) => collect(c.runs.joinStream(id, run.run_id, { lastEventId: "-1", streamMode }));
  const modesOf = async (mode) => names(await join(mode)).filter((e) => e !== "metadata" && e !== "end");
  assert.deepEqual(await modesOf("updates"), ["updates"]);
  assert.deepEqual(await modesOf(["messages-tuple"]), ["messages"]);
  const both = await modesOf(["updates", "values"]);
  assert.deepEqual([...new Set(both)].sort(), ["updates", "values"]);
});

test("joinStream of a thread follows its runs", async () => {
  const id = await thread(c);
  const stop = new AbortController();
  const seen = [];
  const following = (async () => {
    try {
      for await (const frame of c.threads.joinStream(id, { lastEventId: "-1", signal: stop.signal })) {
        if (frame.event === "values") seen.push(lastText(frame.data));
        if (seen.includes("Hello from the script.")) break;
      }
    } catch (e) {
      if (!stop.signal.aborted) throw e;
    }
  })();
  const timer = setTimeout(() => stop.abort(), 60_000);
  // It follows runs from when it is there, which a busy machine may have it be after the end of the first one.
  while (seen.length === 0 && !stop.signal.aborted) await c.runs.wait(id, agent, { input: human("hello") });
  await following;
  clearTimeout(timer);
  stop.abort(); // else the connection stays, and with it this process
  assert.ok(seen.includes("Hello from the script."), JSON.stringify(seen));
});
