// Assistants: the built-in one, and those that clients make.
import { agent, assert, client, human, lastText, randomUUID, refused, test, thread } from "./lib.mjs";

const c = client();

test("the built-in assistant: search, count, get by name and id", async () => {
  const found = await c.assistants.search({ graphId: agent, metadata: { created_by: "system" } });
  assert.equal(found.length, 1);
  assert.equal(found[0].graph_id, agent);
  assert.ok((await c.assistants.count({ graphId: agent })) >= 1);
  const byName = await c.assistants.get(agent);
  const byID = await c.assistants.get(byName.assistant_id);
  assert.deepEqual(byID, byName);
  await refused(404, c.assistants.get(randomUUID()));
});

test("graph, schemas, subgraphs", async () => {
  const graph = await c.assistants.getGraph(agent);
  assert.ok(Array.isArray(graph.nodes) && Array.isArray(graph.edges));
  const schemas = await c.assistants.getSchemas(agent);
  assert.equal(schemas.graph_id, agent);
  for (const key of ["input_schema", "output_schema", "state_schema", "config_schema"]) assert.equal(typeof schemas[key], "object", key);
  assert.equal(typeof (await c.assistants.getSubgraphs(agent)), "object");
});

test("create, run, update, versions, delete", async () => {
  const mark = randomUUID();
  const made = await c.assistants.create({ graphId: agent, name: "mine", description: "for tests", metadata: { mark } });
  assert.deepEqual([made.graph_id, made.name, made.description, made.version], [agent, "mine", "for tests", 1]);
  assert.deepEqual((await c.assistants.search({ metadata: { mark }, name: "mine" })).map((a) => a.assistant_id), [made.assistant_id]);

  const values = await c.runs.wait(await thread(c), made.assistant_id, { input: human("hello") });
  assert.equal(lastText(values), "Hello from the script.");

  const second = await c.assistants.update(made.assistant_id, { name: "ours", metadata: { b: 2 } });
  assert.deepEqual([second.name, second.version], ["ours", 2]);
  assert.equal(second.metadata.b, 2);
  const versions = await c.assistants.getVersions(made.assistant_id);
  assert.deepEqual(versions.map((v) => v.version).sort(), [1, 2]);
  const back = await c.assistants.setLatest(made.assistant_id, 1);
  assert.equal(back.name, "mine");

  await c.assistants.delete(made.assistant_id);
  await refused(404, c.assistants.get(made.assistant_id));
  await refused(404, c.assistants.delete(made.assistant_id));
});

test("an id twice, an unknown graph", async () => {
  const id = randomUUID();
  await c.assistants.create({ graphId: agent, assistantId: id });
  await refused(409, c.assistants.create({ graphId: agent, assistantId: id, ifExists: "raise" }));
  const same = await c.assistants.create({ graphId: agent, assistantId: id, ifExists: "do_nothing" });
  assert.equal(same.assistant_id, id);
  await c.assistants.delete(id);
  await refused(404, c.assistants.create({ graphId: "no_such_graph" }));
});
