// Runs: wait, background, join, list, cancel, strategies, forks, what can go wrong.
import {
  agent, answers, assert, client, collect, ended, human, lastText, modern, names, of, randomUUID, refused, started, test, textOf, thread,
} from "./lib.mjs";

const c = client();

test("wait returns the final values", async () => {
  const id = await thread(c);
  let created;
  const values = await c.runs.wait(id, agent, { input: human("look around"), onRunCreated: (r) => (created = r) });
  assert.deepEqual(answers(values), ["I look.", "I have looked around."]);
  assert.equal(values.messages.filter((m) => m.type === "tool").length, 1);
  if (created) assert.equal((await c.runs.get(id, created.run_id)).status, "success");
  assert.equal((await c.threads.get(id)).status, "idle");
});

test("wait of a failed run returns how far it came", async () => {
  const id = await thread(c);
  const values = await c.runs.wait(id, agent, { input: human("fail please") });
  assert.equal(textOf(values.messages.find((m) => m.type === "human")), "fail please");
  const [run] = await c.runs.list(id);
  assert.equal(run.status, "error");
  assert.equal((await c.threads.get(id)).status, "error");
  const after = await c.runs.wait(id, agent, { input: human("hello") });
  assert.equal(lastText(after), "Hello from the script.");
  assert.equal((await c.threads.get(id)).status, "idle");
});

test("background: create, get, list, join, delete", async () => {
  const id = await thread(c);
  let created;
  const run = await c.runs.create(id, agent, { input: human("a while"), metadata: { tag: "x" }, onRunCreated: (r) => (created = r) });
  assert.equal(created.run_id, run.run_id);
  assert.ok(["pending", "running"].includes(run.status));
  assert.equal(run.thread_id, id);
  assert.equal(run.metadata.tag, "x");
  assert.equal((await c.threads.get(id)).status, "busy");
  assert.match(lastText(await c.runs.join(id, run.run_id)), /^A while/);
  assert.equal((await c.runs.get(id, run.run_id)).status, "success");

  await c.runs.wait(id, agent, { input: human("hello") });
  const list = await c.runs.list(id);
  assert.equal(list.length, 2);
  assert.equal(list[1].run_id, run.run_id, "newest first");
  assert.equal((await c.runs.list(id, { limit: 1, offset: 1 }))[0].run_id, run.run_id);
  assert.equal((await c.runs.list(id, { status: "error" })).length, 0);

  await c.runs.delete(id, run.run_id);
  await refused(404, c.runs.get(id, run.run_id));
});

test("join of a run that is long over returns the values of the thread", async () => {
  const id = await thread(c);
  const run = await c.runs.create(id, agent, { input: human("hello") });
  await ended(c, id, run.run_id);
  assert.equal(lastText(await c.runs.join(id, run.run_id)), "Hello from the script.");
});

for (const wait of [false, true]) {
  test(`cancel with interrupt, wait ${wait}`, async () => {
    const id = await thread(c);
    const run = await started(c, id);
    await c.runs.cancel(id, run.run_id, wait);
    const over = await ended(c, id, run.run_id);
    assert.equal(over.status, "interrupted");
    const frames = await collect(c.runs.joinStream(id, run.run_id, { lastEventId: "-1" }));
    assert.equal(of(frames, "error").length, 0);
    assert.equal(frames.at(-1).event, "end");
    assert.equal(lastText(await c.runs.wait(id, agent, { input: human("hello") })), "Hello from the script.");
  });
}

test("cancel with rollback restores the state", async () => {
  const id = await thread(c);
  await c.runs.wait(id, agent, { input: human("hello") });
  const before = await c.threads.getState(id);
  const run = await started(c, id);
  await c.runs.cancel(id, run.run_id, true, "rollback");
  const over = await ended(c, id, run.run_id);
  assert.equal(over.status, "error");
  const after = await c.threads.getState(id);
  assert.deepEqual(after.values.messages, before.values.messages);
  assert.deepEqual(after.next, []);
});

test("cancel of a run that is over, or was never there, is refused", async () => {
  const id = await thread(c);
  const run = await c.runs.create(id, agent, { input: human("hello") });
  await ended(c, id, run.run_id);
  assert.match(await refused(409, c.runs.cancel(id, run.run_id)), /is not cancellable/);
  await refused(404, c.runs.cancel(id, randomUUID()));
});

test("cancelMany", async () => {
  if (!modern) return;
  const id = await thread(c);
  const run = await started(c, id);
  await c.runs.cancelMany({ threadId: id, runIds: [run.run_id], action: "interrupt" });
  assert.equal((await ended(c, id, run.run_id)).status, "interrupted");
});

test("a second run: reject", async () => {
  const id = await thread(c);
  const run = await started(c, id);
  const options = { input: human("hello"), multitaskStrategy: "reject" };
  await refused(409, c.runs.create(id, agent, options));
  await refused(409, c.runs.wait(id, agent, options));
  await refused(409, collect(c.runs.stream(id, agent, options)));
  await refused(409, c.threads.updateState(id, { values: { title: "x" } }));
  await c.runs.cancel(id, run.run_id, true);
});

test("a second run: enqueue, the default, waits for its turn, in order", async () => {
  const id = await thread(c);
  const first = await c.runs.create(id, agent, { input: human("a while") });
  const options = { multitaskStrategy: "enqueue" };
  const second = await c.runs.create(id, agent, { input: human("recall second") });
  const frames = collect(c.runs.stream(id, agent, { input: human("recall third"), streamMode: "values", ...options }));
  assert.equal((await c.runs.get(id, second.run_id)).status, "pending");
  const values = of(await frames, "values").at(-1).data;
  assert.match(answers(values)[0], /^A while/);
  assert.match(answers(values)[1], /recall second/);
  assert.match(answers(values)[2], /recall second[^]*recall third/);
  for (const run of [first, second]) assert.equal((await c.runs.get(id, run.run_id)).status, "success");
});

test("a second message: steer is said to the run at work, and read once", async () => {
  const id = await thread(c);
  const first = await started(c, id, "a while"); // what comes before its first call of the model is read with it
  const said = await c.runs.create(id, agent, { input: human("recall one"), multitaskStrategy: "steer" });
  assert.equal(said.run_id, first.run_id);
  assert.ok(said.steer_id);
  const frames = collect(c.runs.stream(id, agent, { input: human("recall two"), multitaskStrategy: "steer", streamMode: "values" }));
  const values = await c.runs.wait(id, agent, { input: human("recall three"), multitaskStrategy: "steer" });
  assert.match(lastText(values), /recall one[^]*recall (two|three)[^]*recall (two|three)/); // the last two are under way at once
  assert.equal(values.messages.filter((m) => m.type === "human").length, 4);
  assert.equal(of(await frames, "metadata")[0].data.run_id, first.run_id);
});

test("a second run: interrupt ends the first and goes on from its state", async () => {
  const id = await thread(c);
  const first = await started(c, id, "slow one");
  const values = await c.runs.wait(id, agent, { input: human("recall two"), multitaskStrategy: "interrupt" });
  assert.equal((await ended(c, id, first.run_id)).status, "interrupted");
  assert.match(lastText(values), /slow one[^]*recall two/);
});

test("a second run: rollback ends the first as if it had never been", async () => {
  const id = await thread(c);
  const first = await started(c, id, "slow one");
  const values = await c.runs.wait(id, agent, { input: human("recall two"), multitaskStrategy: "rollback" });
  assert.equal((await ended(c, id, first.run_id)).status, "error");
  assert.doesNotMatch(lastText(values), /slow one/);
});

test("fork from a checkpoint: both branches stay, the newest is the head", async () => {
  const id = await thread(c);
  await c.runs.wait(id, agent, { input: human("hello") });
  const at = (await c.threads.getState(id)).checkpoint;
  await c.runs.wait(id, agent, { input: human("recall left") });
  const left = (await c.threads.getState(id)).checkpoint;

  const forms = [{ checkpoint: { ...at } }, { checkpointId: at.checkpoint_id }];
  for (const [i, fork] of forms.entries()) {
    const values = await c.runs.wait(id, agent, { input: human(`recall right ${i}`), ...fork });
    assert.match(lastText(values), new RegExp(`recall right ${i}`));
    assert.doesNotMatch(lastText(values), /left/);
    assert.equal(answers(values).length, 2);
  }
  assert.match(lastText((await c.threads.getState(id)).values), /right 1/);
  assert.match(lastText((await c.threads.getState(id, left)).values), /left/);
  const parents = (await c.threads.getHistory(id, { limit: 100 })).filter((s) => s.parent_checkpoint?.checkpoint_id === at.checkpoint_id);
  assert.equal(parents.length, 3, "three branches begin at the checkpoint");
  assert.equal(lastText(await c.runs.wait(id, agent, { input: human("hello") })), "Hello from the script.");
});

test("update as a fork: the state of an older checkpoint becomes the head", async () => {
  const id = await thread(c);
  await c.runs.wait(id, agent, { input: human("hello") });
  const at = (await c.threads.getState(id)).checkpoint;
  await c.runs.wait(id, agent, { input: human("hello again") });
  await c.threads.updateState(id, { values: { title: "forked" }, checkpointId: at.checkpoint_id });
  const { values } = await c.threads.getState(id);
  assert.equal(values.title, "forked");
  assert.equal(answers(values).length, 1);
});

test("a thread that is not there: refused, or made on request", async () => {
  const id = randomUUID();
  await refused(404, c.runs.wait(id, agent, { input: human("hello") }));
  await refused(404, collect(c.runs.stream(id, agent, { input: human("hello") })));
  const values = await c.runs.wait(id, agent, { input: human("hello"), ifNotExists: "create" });
  assert.equal(lastText(values), "Hello from the script.");
  assert.equal((await c.threads.get(id)).thread_id, id);
});

test("what is refused before a run starts", async () => {
  const id = await thread(c);
  await refused(404, c.runs.create(id, "no_such_assistant", { input: human("hello") }));
  const faults = await refused(422, c.runs.create(id, agent, { input: human("hello"), streamMode: "nonsense" }));
  assert.ok(Array.isArray(faults) && faults[0].loc.includes("stream_mode"), JSON.stringify(faults));
  for (const key of ["type", "loc", "msg", "input"]) assert.ok(key in faults[0], `a fault has ${key}`);
  await refused(422, c.runs.create(id, agent, { input: human("hello"), multitaskStrategy: "nonsense" }));
  await refused(422, c.runs.wait(id, agent, { input: human("hello"), onDisconnect: "nonsense" }));
  await refused(404, c.runs.get(id, randomUUID()));
  await refused(404, c.threads.getState(randomUUID()));
  assert.equal((await c.runs.list(id)).length, 0, "nothing was started");
});

test("afterSeconds delays the start", async () => {
  const id = await thread(c);
  const begun = Date.now();
  const run = await c.runs.create(id, agent, { input: human("hello"), afterSeconds: 1 });
  assert.equal(run.status, "pending");
  await c.runs.join(id, run.run_id);
  assert.ok(Date.now() - begun >= 950, `it ended after ${Date.now() - begun} ms`);
});

test("onDisconnect: continue is the default, cancel cancels", async () => {
  for (const [onDisconnect, status] of [[undefined, "success"], ["cancel", "interrupted"]]) {
    const id = await thread(c);
    const text = onDisconnect ? "slow" : "brief";
    const stop = new AbortController();
    let run;
    const stream = c.runs.stream(id, agent, {
      input: human(text), streamMode: "messages-tuple", onDisconnect, signal: stop.signal, onRunCreated: (r) => (run = r),
    });
    for await (const frame of stream) {
      if (frame.event === "messages" && frame.data[0].type !== "human") break;
    }
    stop.abort();
    assert.equal((await ended(c, id, run.run_id)).status, status);
  }
});

test("a busy thread is not deleted under its run", async () => {
  const id = await thread(c);
  const run = await started(c, id);
  await refused(409, c.threads.delete(id));
  await c.runs.cancel(id, run.run_id, true);
  await c.threads.delete(id);
  await refused(404, c.runs.get(id, run.run_id));
});

test("stateless: wait, stream, create, batch", async () => {
  assert.equal(lastText(await c.runs.wait(null, agent, { input: human("hello") })), "Hello from the script.");
  let created;
  const frames = await collect(c.runs.stream(null, agent, { input: human("hello"), streamMode: "values", onRunCreated: (r) => (created = r) }));
  assert.ok(created.run_id);
  assert.equal(frames[0].data.run_id, created.run_id);
  assert.deepEqual(names(frames), ["metadata", "values", "end"]);
  assert.equal(lastText(of(frames, "values").at(-1).data), "Hello from the script.");

  const run = await c.runs.create(null, agent, { input: human("hello") });
  assert.ok(run.run_id && run.thread_id);
  const batch = await c.runs.createBatch([
    { assistantId: agent, input: human("hello one") },
    { assistantId: agent, input: human("hello two") },
  ]);
  assert.equal(batch.length, 2);
  assert.notEqual(batch[0].run_id, batch[1].run_id);
});

test("config and context reach the run record; recursion limit ends a run", async () => {
  const id = await thread(c);
  const run = await c.runs.create(id, agent, { input: human("hello"), config: { tags: ["t"], configurable: { colour: "red" } } });
  await c.runs.join(id, run.run_id);
  assert.equal((await c.runs.get(id, run.run_id)).status, "success");

  const frames = await collect(c.runs.stream(id, agent, { input: human("look"), config: { recursion_limit: 1 }, streamMode: "values" }));
  assert.equal(frames.at(-1).event, "end", "a limit ends a run in good order");
});
