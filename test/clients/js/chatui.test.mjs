// What LangChain's chat UI does with a server, beside what every client does.
import { agent, assert, answers, client, collect, human, lastText, started, test, thread, until } from "./lib.mjs";

const c = client();
// The id by which it knows a message that it is not to show.
const hidden = "do-not-render-";

test("a message behind a stream that was only closed waits for its turn", async () => {
  const id = await thread(c);
  const first = await started(c, id, "brief");
  const values = await c.runs.wait(id, agent, { input: human("recall all") });
  assert.match(lastText(values), /recall all/);
  assert.equal((await c.runs.get(id, first.run_id)).status, "success");
});

test("below /api the second run is refused, as by DeerFlow", async () => {
  const deer = client(`${process.env.PUDU_URL}/api`);
  const id = await thread(deer);
  const run = await started(deer, id);
  await assert.rejects(deer.runs.create(id, agent, { input: human("hello") }), { status: 409 });
  await deer.runs.cancel(id, run.run_id, true);
});

test("a message that is hidden has an id that says so", async () => {
  const id = await thread(c);
  const values = await c.runs.wait(id, agent, { input: human("hello") });
  const marked = values.messages.filter((m) => m.additional_kwargs?.hide_from_ui);
  assert.ok(marked.length > 0, "the date is told to the model");
  assert.deepEqual(values.messages.filter((m) => m.id.startsWith(hidden)), marked);
  const stored = (await c.threads.getState(id)).values.messages;
  assert.deepEqual(stored.map((m) => m.id), values.messages.map((m) => m.id));
});

test("from before the first input: that input once more", async () => {
  const id = await thread(c);
  await c.runs.wait(id, agent, { input: human("look around") });
  const origin = (await c.threads.getHistory(id, { limit: 100 })).at(-1);
  assert.deepEqual(origin.next, ["__start__"]);
  const frames = await collect(c.runs.stream(id, agent, { checkpoint: origin.checkpoint, streamMode: "values" }));
  assert.ok(!frames.some((f) => f.event === "error"), JSON.stringify(frames.at(-1)));
  const { values, next } = await c.threads.getState(id);
  assert.deepEqual(next, []);
  assert.deepEqual(answers(values), ["I look.", "I have looked around."]);
  assert.equal(values.messages.filter((m) => m.type === "human").length, 1);
});

test("a thread is found by its graph and its assistant, once it had a run", async () => {
  const id = await thread(c, { metadata: { mark: crypto.randomUUID() } });
  const { mark } = (await c.threads.get(id)).metadata;
  await c.runs.wait(id, agent, { input: human("hello") });
  const { metadata } = await c.threads.get(id);
  const { assistant_id: assistant } = (await c.assistants.search({ graphId: agent, limit: 1 }))[0];
  assert.deepEqual(metadata, { mark, graph_id: agent, assistant_id: assistant });
  for (const one of [{ graph_id: agent }, { assistant_id: assistant }]) {
    assert.deepEqual((await c.threads.search({ metadata: { ...one, mark } })).map((t) => t.thread_id), [id]);
  }
});

const args = { description: "Write", path: "/mnt/user-data/outputs/a.txt", content: "second\n" };
for (const [spelling, edited] of [["Python", "edited_action"], ["JavaScript", "editedAction"]]) {
  test(`an approval is asked for in both spellings, and answered in that of ${spelling}`, async () => {
    const id = await thread(c);
    const asked = await c.runs.wait(id, agent, { input: human("approve it") });
    const { value } = asked.__interrupt__[0];
    assert.deepEqual(value.action_requests, value.actionRequests);
    assert.deepEqual(value.review_configs, value.reviewConfigs);
    assert.equal(value.action_requests[0].name, "write_file");
    const [review] = value.review_configs;
    assert.equal(review.action_name, "write_file");
    assert.equal(review.actionName, "write_file");
    assert.deepEqual(review.allowed_decisions, ["approve", "edit", "reject"]);
    assert.deepEqual(review.allowedDecisions, review.allowed_decisions);

    const decisions = [{ type: "edit", [edited]: { name: "write_file", args } }];
    await c.runs.wait(id, agent, { command: { resume: { decisions } } });
    const file = await until("the file", async () => {
      const answer = await fetch(`${process.env.PUDU_URL}/threads/${id}/artifacts/mnt/user-data/outputs/a.txt`);
      return answer.ok && answer.text();
    });
    assert.equal(file, args.content);
  });
}
