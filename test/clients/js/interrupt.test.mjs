// Interrupts: a run stops before or after a node, or in a tool that asks a human, and goes on when told.
import { agent, answers, assert, client, collect, ended, human, lastText, of, refused, test, textOf, thread } from "./lib.mjs";

const c = client();

/** brief leaves of an interrupt what every view of it has. */
function brief({ id, value }) {
  return { id, value };
}

/** toolTexts are the results of the tools. */
function toolTexts(values) {
  return values.messages.filter((m) => m.type === "tool").map(textOf);
}

const goingOn = [
  ["input null", { input: null }],
  ["command resume", { command: { resume: true } }],
];
for (const [how, options] of goingOn) {
  test(`a stop before the tools, then ${how}`, async () => {
    const id = await thread(c);
    let run;
    const frames = await collect(
      c.runs.stream(id, agent, { input: human("look around"), interruptBefore: ["tools"], streamMode: ["updates", "values"], onRunCreated: (r) => (run = r) }),
    );
    assert.deepEqual(of(frames, "updates").at(-1).data, { __interrupt__: [] });
    assert.equal((await c.runs.get(id, run.run_id)).status, "success");
    assert.equal((await c.threads.get(id)).status, "interrupted");
    const state = await c.threads.getState(id);
    assert.deepEqual(state.next, ["tools"]);
    assert.equal(state.tasks[0].name, "tools");
    assert.equal(toolTexts(state.values).length, 0);

    const values = await c.runs.wait(id, agent, options);
    assert.deepEqual(answers(values), ["I look.", "I have looked around."], "it goes on and does not begin anew");
    assert.equal(toolTexts(values).length, 1);
    assert.equal((await c.threads.get(id)).status, "idle");
  });
}

test("a sub-agent asks two things, and its state is in the task", async () => {
  const id = await thread(c);
  const context = { subagent_enabled: true };
  const values = await c.runs.wait(id, agent, { input: human("delegate it"), context });
  const [first, second] = values.__interrupt__;
  const { tasks } = await c.threads.getState(id);
  assert.deepEqual(tasks.map((t) => t.interrupts.map(brief)), [values.__interrupt__.map(brief)]);
  assert.deepEqual(tasks[0].checkpoint, { thread_id: id, checkpoint_ns: first.value.namespace.join("|") });
  const deep = await c.threads.getState(id, undefined, { subgraphs: true });
  const below = deep.tasks[0].state;
  assert.equal(lastText(below.values), "I write both.");
  assert.deepEqual(below.tasks.map((t) => t.interrupts[0].id), [first.id, second.id]);
  assert.deepEqual(await c.threads.getState(id, tasks[0].checkpoint), below);
  const decision = (type) => ({ decisions: [{ type }] });
  const resume = { [second.id]: decision("reject"), [first.id]: decision("approve") };
  assert.match(lastText(await c.runs.wait(id, agent, { command: { resume }, context })), /Result: one, not two/);
});

test("a stop after the model, and at every node", async () => {
  const id = await thread(c);
  await c.runs.wait(id, agent, { input: human("look around"), interruptAfter: ["model"] });
  assert.equal((await c.threads.get(id)).status, "interrupted");
  assert.equal(answers((await c.threads.getState(id)).values).length, 1);
  const values = await c.runs.wait(id, agent, { input: null });
  assert.equal(lastText(values), "I have looked around.");

  const other = await thread(c);
  let rounds = 0;
  let input = human("look around");
  for (; rounds < 60; rounds++) {
    await c.runs.wait(other, agent, { input, interruptBefore: "*" });
    input = null;
    if ((await c.threads.getState(other)).next.length === 0) break;
  }
  assert.ok(rounds >= 3, `only ${rounds} stops`);
  assert.equal(lastText((await c.threads.getState(other)).values), "I have looked around.");
});

test("a tool asks: the question in the stream, the state, the thread and the wait", async () => {
  const id = await thread(c);
  const frames = await collect(c.runs.stream(id, agent, { input: human("ask me"), streamMode: ["updates", "values"] }));
  const [interrupt] = of(frames, "updates").at(-1).data.__interrupt__.map(brief);
  assert.ok(interrupt.id);
  assert.deepEqual(interrupt.value.action_requests.map((a) => [a.name, a.args]), [["delete", { target: "report.md" }]]);
  assert.deepEqual(interrupt.value.review_configs, [{ action_name: "delete", allowed_decisions: ["approve", "edit", "reject"] }]);
  const last = of(frames, "values").at(-1).data;
  assert.deepEqual(last.__interrupt__.map(brief), [interrupt]);
  assert.equal(answers(last)[0], "I ask first.", "the values are whole");

  const state = await c.threads.getState(id);
  assert.deepEqual(state.tasks.flatMap((t) => t.interrupts).map(brief), [interrupt]);
  assert.deepEqual(state.next, ["tools"]);
  const shown = await c.threads.get(id);
  assert.equal(shown.status, "interrupted");
  assert.deepEqual(Object.values(shown.interrupts).flat().map(brief), [interrupt]);
  assert.ok((await c.threads.search({ status: "interrupted", ids: [id] })).length === 1);
});

test("a tool asks: the answer resumes it, by value and by interrupt id", async () => {
  const forms = [(_, answer) => answer, (interrupt, answer) => ({ [interrupt.id]: answer })];
  for (const form of forms) {
    const id = await thread(c);
    const asked = await c.runs.wait(id, agent, { input: human("ask me") });
    const [interrupt] = asked.__interrupt__;
    const answer = { decisions: [{ type: "edit", edited_action: { name: "delete", args: { target: "old.md" } } }] };
    const frames = await collect(
      c.runs.stream(id, agent, { command: { resume: form(interrupt, answer) }, streamMode: ["values", "updates"] }),
    );
    const values = of(frames, "values").at(-1).data;
    assert.match(lastText(values), /^The human said: /);
    assert.deepEqual(JSON.parse(lastText(values).slice("The human said: ".length)), answer);
    assert.equal("__interrupt__" in values, false);
    const state = await c.threads.getState(id);
    assert.deepEqual(state.next, []);
    assert.equal((await c.threads.get(id)).status, "idle");
    assert.deepEqual(Object.values((await c.threads.get(id)).interrupts ?? {}).flat(), []);
  }
});

test("a tool asks: new input drops the question", async () => {
  const id = await thread(c);
  await c.runs.wait(id, agent, { input: human("ask me") });
  const values = await c.runs.wait(id, agent, { input: human("hello") });
  assert.equal(lastText(values), "Hello from the script.");
  assert.equal((await c.threads.get(id)).status, "idle");
});

test("a tool asks in a background run; the run counts as success", async () => {
  const id = await thread(c);
  const run = await c.runs.create(id, agent, { input: human("ask me") });
  const values = await c.runs.join(id, run.run_id);
  assert.equal(values.__interrupt__.length, 1);
  assert.equal((await ended(c, id, run.run_id)).status, "success");
});

test("command: update the state, go to a node", async () => {
  const id = await thread(c);
  await c.runs.wait(id, agent, { input: human("hello") });
  const update = { messages: [{ type: "human", content: "recall the update" }], title: "commanded" };
  const values = await c.runs.wait(id, agent, { command: { update, goto: "model" } });
  assert.equal(values.title, "commanded");
  assert.match(lastText(values), /recall the update/);
});

test("what cannot go on is refused or does nothing", async () => {
  const id = await thread(c);
  await c.runs.wait(id, agent, { input: human("hello") });
  const before = (await c.threads.getState(id)).values.messages;
  const said = await c.runs.wait(id, agent, { command: { resume: "nobody asked" } }).then(() => null, (e) => e);
  if (said) assert.ok([400, 409, 422].includes(said.status), said.message);
  assert.deepEqual((await c.threads.getState(id)).values.messages, before);
  await refused(422, c.runs.wait(id, agent, { input: human("hello"), interruptBefore: 7 }));
});
