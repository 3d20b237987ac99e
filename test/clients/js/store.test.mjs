// Store items: a shared memory of small JSON values.
import { assert, client, randomUUID, test, until } from "./lib.mjs";

const c = client();

test("put, get, replace, delete", async () => {
  const space = ["tests", randomUUID()];
  await c.store.putItem(space, "k", { n: 1, list: [1, "ä"] });
  const item = await c.store.getItem(space, "k");
  assert.deepEqual([item.namespace, item.key, item.value], [space, "k", { n: 1, list: [1, "ä"] }]);
  assert.ok(Date.parse(item.createdAt) > 0 && Date.parse(item.updatedAt) > 0);
  await c.store.putItem(space, "k", { n: 2 });
  assert.deepEqual((await c.store.getItem(space, "k")).value, { n: 2 });
  await c.store.deleteItem(space, "k");
  assert.equal(await c.store.getItem(space, "k"), null);
  await c.store.deleteItem(space, "k");
});

test("search by prefix, filter and page; namespaces", async () => {
  const root = randomUUID();
  for (const [i, sub] of ["a", "a", "b"].entries()) await c.store.putItem([root, sub], `k${i}`, { i, even: i % 2 === 0 });
  const keys = async (prefix, options) => (await c.store.searchItems(prefix, options)).items.map((it) => it.key).sort();
  assert.deepEqual(await keys([root]), ["k0", "k1", "k2"]);
  assert.deepEqual(await keys([root, "a"]), ["k0", "k1"]);
  assert.deepEqual(await keys([root], { filter: { even: true } }), ["k0", "k2"]);
  assert.equal((await keys([root], { limit: 1, offset: 1 })).length, 1);
  const { namespaces } = await c.store.listNamespaces({ prefix: [root] });
  assert.deepEqual(namespaces.map((n) => n.join("/")).sort(), [`${root}/a`, `${root}/b`]);
});

test("search by a query", async () => {
  const space = ["tests", randomUUID()];
  for (const [key, text] of [["food", "Ann likes pizza"], ["city", "Ann lives in Bern"], ["sport", "skiing"]]) await c.store.putItem(space, key, { text });
  const { items } = await c.store.searchItems(space, { query: "What pizza does Ann like?" });
  assert.deepEqual(items.map((it) => it.key), ["food", "city"]);
  assert.ok(items[0].score > items[1].score);
});

test("time to live", async () => {
  const space = ["tests", randomUUID()];
  await c.store.putItem(space, "soon", {}, { ttl: 0.005 });
  await c.store.putItem(space, "later", {}, { ttl: 60 });
  await until("the end of the item", async () => (await c.store.getItem(space, "soon", { refreshTtl: false })) === null);
  assert.deepEqual((await c.store.searchItems(space, { refreshTtl: true })).items.map((it) => it.key), ["later"]);
});

test("labels with a dot are refused", async () => {
  await assert.rejects(c.store.putItem(["a.b"], "k", {}), /periods/);
  const response = await fetch(`${c.store.apiUrl}/store/items`, {
    method: "PUT", headers: { "content-type": "application/json" }, body: JSON.stringify({ namespace: ["a.b"], key: "k", value: {} }),
  });
  assert.equal(response.status, 422);
  await assert.rejects(c.store.putItem([], "k", {}), /HTTP 4[02][02]/);
});
