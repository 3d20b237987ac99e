// Threads and their state: create, get, search, count, patch, copy, delete; state, history.
import { agent, answers, assert, client, human, lastText, randomUUID, refused, test, textOf, thread, url, visible } from "./lib.mjs";

const c = client();

test("create, get, patch, delete", async () => {
  const id = randomUUID();
  const made = await c.threads.create({ threadId: id, metadata: { colour: "red", n: 1 } });
  assert.equal(made.thread_id, id);
  assert.equal(made.status, "idle");
  assert.equal(made.metadata.colour, "red");
  assert.ok(Date.parse(made.created_at) > 0 && Date.parse(made.updated_at) > 0);

  const again = await c.threads.create({ threadId: id, ifExists: "do_nothing" });
  assert.equal(again.metadata.colour, "red", "what is there stays");

  const patched = await c.threads.update(id, { metadata: { size: "s", n: 2 } });
  assert.deepEqual([patched.metadata.colour, patched.metadata.size, patched.metadata.n], ["red", "s", 2]);
  assert.deepEqual((await c.threads.get(id)).metadata, patched.metadata);

  await c.threads.delete(id);
  await refused(404, c.threads.get(id));
  await refused(404, c.threads.delete(id));
});

test("search: metadata, status, order, pages, select, ids; count", async () => {
  const mark = randomUUID();
  const ids = [];
  for (let i = 0; i < 5; i++) ids.push(await thread(c, { metadata: { mark, i } }));
  const found = (query) => c.threads.search({ metadata: { mark }, ...query });

  assert.deepEqual((await found({ sortBy: "created_at", sortOrder: "asc" })).map((t) => t.thread_id), ids);
  assert.deepEqual((await found({ sortBy: "created_at", sortOrder: "desc", limit: 2, offset: 1 })).map((t) => t.thread_id), [ids[3], ids[2]]);
  assert.equal((await found({ status: "busy" })).length, 0);
  assert.deepEqual((await found({ metadata: { mark, i: 3 } })).map((t) => t.thread_id), [ids[3]]);
  assert.deepEqual((await found({ metadata: { mark, i: "3" } })).length, 0, "filters are strict about types");
  assert.deepEqual(Object.keys((await found({ select: ["thread_id"], limit: 1 }))[0]), ["thread_id"]);
  assert.deepEqual((await found({ ids: [ids[0], ids[4]] })).map((t) => t.thread_id).sort(), [ids[0], ids[4]].sort());
  assert.equal(await c.threads.count({ metadata: { mark } }), 5);
});

test("copy has the state and the history of its source, and a life of its own", async () => {
  const id = await thread(c);
  await c.runs.wait(id, agent, { input: human("hello") });
  const copy = (await c.threads.copy(id)).thread_id;
  assert.notEqual(copy, id);
  const [one, other] = [await c.threads.getState(id), await c.threads.getState(copy)];
  assert.deepEqual(other.values.messages, one.values.messages);
  assert.equal((await c.threads.getHistory(copy, { limit: 100 })).length, (await c.threads.getHistory(id, { limit: 100 })).length);

  await c.runs.wait(copy, agent, { input: human("hello again") });
  assert.equal(answers((await c.threads.getState(copy)).values).length, 2);
  assert.equal(answers((await c.threads.getState(id)).values).length, 1);
});

test("state: fresh, after a run, updated", async () => {
  const id = await thread(c);
  const fresh = await c.threads.getState(id);
  assert.deepEqual(fresh.next, []);
  assert.deepEqual(fresh.values.messages ?? [], []);

  await c.runs.wait(id, agent, { input: human("hello") });
  const state = await c.threads.getState(id);
  assert.equal(lastText(state.values), "Hello from the script.");
  assert.deepEqual(state.next, []);
  assert.deepEqual(state.tasks, []);
  assert.equal(state.checkpoint.thread_id, id);
  assert.equal(state.checkpoint.checkpoint_ns, "");
  assert.ok(state.checkpoint.checkpoint_id);
  assert.ok(state.created_at);

  const updated = await c.threads.updateState(id, { values: { title: "A title" } });
  assert.equal(updated.checkpoint.thread_id, id);
  const renamed = await c.threads.getState(id);
  assert.equal(renamed.values.title, "A title");
  assert.equal(renamed.checkpoint.checkpoint_id, updated.checkpoint.checkpoint_id);
  assert.equal(renamed.parent_checkpoint.checkpoint_id, state.checkpoint.checkpoint_id);
  assert.equal(answers(renamed.values).length, 1, "the messages stay");
});

test("state: messages are added, replaced by id, and removed", async () => {
  const id = await thread(c, { graphId: agent });
  const set = (messages, asNode) => c.threads.updateState(id, { values: { messages }, asNode });
  await set([{ type: "human", content: "one", id: "h1" }], "model");
  await set([{ type: "ai", content: "two", id: "a1" }], "model");
  await set([{ type: "human", content: "ONE", id: "h1" }], "model");
  let { values } = await c.threads.getState(id);
  assert.deepEqual(values.messages.map((m) => [m.id, textOf(m)]), [["h1", "ONE"], ["a1", "two"]]);
  await set([{ type: "remove", id: "h1" }], "model");
  ({ values } = await c.threads.getState(id));
  assert.deepEqual(values.messages.map((m) => m.id), ["a1"]);
});

test("state at a checkpoint, by id and by object", async () => {
  const id = await thread(c);
  await c.runs.wait(id, agent, { input: human("hello") });
  const first = (await c.threads.getState(id)).checkpoint;
  await c.runs.wait(id, agent, { input: human("and again") });
  for (const at of [first.checkpoint_id, first]) {
    const state = await c.threads.getState(id, at);
    assert.equal(answers(state.values).length, 1);
    assert.equal(state.checkpoint.checkpoint_id, first.checkpoint_id);
  }
  await refused(404, c.threads.getState(id, "1f1e5400-0000-6be0-8001-000000000000"));
});

test("history: newest first, pages by before, parents, metadata", async () => {
  const id = await thread(c);
  await c.runs.wait(id, agent, { input: human("look here") });
  const all = await c.threads.getHistory(id, { limit: 100 });
  assert.ok(all.length >= 4, `only ${all.length} checkpoints of a run with a tool`);
  assert.equal(visible(all[0].values).length, 4);
  assert.deepEqual(all[0].next, []);
  for (const [i, s] of all.slice(0, -1).entries()) {
    assert.equal(s.parent_checkpoint.checkpoint_id, all[i + 1].checkpoint.checkpoint_id, `parent of entry ${i}`);
  }
  const ids = all.map((s) => s.checkpoint.checkpoint_id);
  assert.deepEqual([...ids].sort().reverse(), ids, "checkpoint ids grow");

  const before = { configurable: { thread_id: id, checkpoint_id: ids[1] } };
  const page = await c.threads.getHistory(id, { limit: 2, before });
  assert.deepEqual(page.map((s) => s.checkpoint.checkpoint_id), ids.slice(2, 4), "before is exclusive");

  const inputs = await c.threads.getHistory(id, { limit: 100, metadata: { source: "input" } });
  assert.ok(inputs.length > 0 && inputs.every((s) => s.metadata.source === "input"));

  // The web client asks for one entry, and would fork from it at its next message if it had a checkpoint.
  const [one] = await c.threads.getHistory(id, { limit: 1 });
  assert.equal(one.checkpoint ?? null, null);
  assert.equal(visible(one.values).length, 4);
});

test("bin: a thread in it is not found by search, is read, not changed, and deleted for good", async () => {
  const mark = randomUUID();
  const id = await thread(c, { metadata: { mark } });
  await c.runs.wait(id, agent, { input: human("hello") });
  const move = async (where) => (await fetch(`${url}/threads/${id}/${where}`, { method: "POST" })).status;
  assert.equal(await move("trash"), 200);
  assert.deepEqual(await c.threads.search({ metadata: { mark } }), []);
  const at = (await c.threads.getHistory(id, { limit: 100 }))[1].checkpoint;
  assert.equal((await c.threads.getState(id, at)).checkpoint.checkpoint_id, at.checkpoint_id);
  await refused(409, c.threads.updateState(id, { values: { title: "x" } }));
  await refused(409, c.runs.create(id, agent, { input: human("hello") }));
  assert.equal(await move("restore"), 200);
  assert.deepEqual((await c.threads.search({ metadata: { mark } })).map((t) => t.thread_id), [id]);
  assert.equal(answers(await c.runs.wait(id, agent, { input: human("hello") })).length, 2);
  assert.equal(await move("trash"), 200);
  await c.threads.delete(id);
  await refused(404, c.threads.get(id));
  assert.equal(await move("restore"), 404);
});
