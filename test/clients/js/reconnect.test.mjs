// Reconnecting: the connection is cut at random bytes, the SDK goes on by itself, and nothing is lost or seen twice.
import { describe } from "node:test";
import { agent, assert, checkStream, client, collect, human, of, sameFrames, sdk, test, textOf, thread, url } from "./lib.mjs";
import { cutting, random } from "./proxy.mjs";

const seed = Number(process.env.PUDU_SEED ?? Date.now() % 1_000_000);
const c = client();
const modes = ["values", "updates", "messages-tuple", "custom"];

/** through runs one stream through connections that are cut after so many bytes each; returns what the SDK saw. */
async function through(cuts, how, text = "tokens please") {
  const proxy = await cutting(url, cuts, how);
  try {
    const id = await thread(c);
    let run;
    const frames = await collect(
      client(proxy.url).runs.stream(id, agent, { input: human(text), streamMode: modes, onRunCreated: (r) => (run = r) }),
    );
    const all = await collect(c.runs.joinStream(id, run.run_id, { lastEventId: "-1", streamMode: modes }));
    return { id, run: run.run_id, frames, all, state: proxy.state };
  } finally {
    await proxy.close();
  }
}

// Side by side, since most of the time the SDK waits before it connects again.
describe("cuts", { concurrency: 4 }, () => {
  test("uncut: the stream and the log are the same", async () => {
    const { frames, all, state } = await through([]);
    assert.equal(state.cut, 0);
    checkStream(all);
    sameFrames(frames, all);
  });

  const next = random(seed);
  for (let i = 0; i < 6; i++) {
    const cuts = Array.from({ length: 1 + Math.floor(next() * 2) }, () => Math.floor(next() ** 2 * 40_000));
    const how = next() < 0.5 ? "reset" : "close";
    test(`cut ${i}: after ${cuts} bytes by ${how} (PUDU_SEED=${seed})`, async () => {
      const { frames, all, state } = await through(cuts, how);
      assert.ok(state.cut >= 1, "nothing was cut");
      sameFrames(frames, all);
    });
  }

  for (const bytes of [0, 1, 25]) {
    test(`cut after ${bytes} bytes, before the first event is whole`, async () => {
      const { frames, all } = await through([bytes]);
      sameFrames(frames, all);
    });
  }

  test("cut while the run is silent, with heartbeats or none", async () => {
    const { frames, all } = await through([3_000, 200], "reset", "look around");
    sameFrames(frames, all);
  });

  test("a join that is cut goes on", async () => {
    const id = await thread(c);
    const run = await c.runs.create(id, agent, { input: human("tokens please"), streamMode: modes });
    const proxy = await cutting(url, [2_500, 9_000]);
    try {
      const frames = await collect(client(proxy.url).runs.joinStream(id, run.run_id, { lastEventId: "-1", streamMode: modes }));
      assert.equal(proxy.state.cut, 2);
      sameFrames(frames, await collect(c.runs.joinStream(id, run.run_id, { lastEventId: "-1", streamMode: modes })));
    } finally {
      await proxy.close();
    }
  });

  test("the text that a client puts together is whole after cuts", async () => {
    const { id, frames } = await through([5_000, 4_000]);
    const { values } = await c.threads.getState(id);
    const pieces = new Map();
    for (const { data } of of(frames, "messages")) pieces.set(data[0].id, (pieces.get(data[0].id) ?? "") + textOf(data[0]));
    for (const m of values.messages.filter((m) => m.type === "ai")) assert.equal(pieces.get(m.id), textOf(m));
  });
});

test("the server's headers tell where to go on", async () => {
  const id = await thread(c);
  for (const base of ["", "/api", "/api/langgraph"]) {
    const response = await fetch(`${url}${base}/threads/${id}/runs/stream`, {
      method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ assistant_id: agent, input: human("hello") }),
    });
    assert.equal(response.status, 200);
    assert.match(response.headers.get("content-type"), /^text\/event-stream/);
    const text = await response.text();
    const run = /"run_id": ?"([^"]+)"/.exec(text)[1];
    assert.equal(response.headers.get("location"), `/threads/${id}/runs/${run}/stream`, "relative to the base, whatever the base");
    assert.match(response.headers.get("content-location"), new RegExp(`/threads/${id}/runs/${run}$`));
    assert.match(response.headers.get("cache-control"), /no-cache/);
    assert.equal(response.headers.get("x-accel-buffering"), "no");
    const again = await fetch(`${url}${base}/threads/${id}/runs/${run}/stream`, { headers: { "last-event-id": "-1" } });
    assert.equal(await again.text(), text, `${sdk}: the same bytes under ${base || "/"}`);
  }
});
