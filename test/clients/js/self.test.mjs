// Tests of the tests: the cutting proxy and the comparison of streams, against small servers of their own. The good one
// resumes after Last-Event-ID; the others lose or repeat an event, which must be found.
import http from "node:http";
import { agent, assert, checkStream, client, collect, sameFrames, test } from "./lib.mjs";
import { cutting, random } from "./proxy.mjs";

const total = 60;

/** streaming starts a server with one run of `total` events; shift moves the place where it resumes. */
async function streaming(shift) {
  const server = http.createServer(async (request, response) => {
    request.resume();
    const after = request.headers["last-event-id"] ?? "-1";
    let n = after === "-1" ? 0 : Number(after.split("-")[1]) + 1 + shift;
    response.writeHead(200, {
      "content-type": "text/event-stream", location: "/threads/t/runs/r/stream", "content-location": "/threads/t/runs/r",
    });
    for (; n < total; n++) {
      const event = n === 0 ? "metadata" : n === total - 1 ? "end" : "values";
      const data = n === 0 ? { run_id: "r" } : n === total - 1 ? null : { n, text: "ä€🦌".repeat(n % 7) };
      response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\nid: 1-${n}\n\n`);
      if (n % 9 === 0) response.write(": heartbeat\n\n");
      if (n % 5 === 0) await new Promise((resolve) => setTimeout(resolve, 2));
    }
    response.end();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => new Promise((resolve) => server.close(resolve)) };
}

async function read(shift, cuts, how) {
  const server = await streaming(shift);
  const proxy = await cutting(server.url, cuts, how);
  try {
    const frames = await collect(client(proxy.url).runs.stream("t", agent, {}));
    const all = await collect(client(server.url).runs.joinStream("t", "r", { lastEventId: "-1" }));
    return { frames, all, state: proxy.state };
  } finally {
    await proxy.close();
    await server.close();
  }
}

test("without a cut the proxy changes nothing", async () => {
  const { frames, all, state } = await read(0, []);
  assert.deepEqual([frames.length, state.made, state.cut], [total, 1, 0]);
  checkStream(all);
  sameFrames(frames, all);
});

for (const how of ["reset", "close"]) {
  const next = random(7);
  test(`a server that resumes well passes, ${how}`, async () => {
    const runs = [[0], [1], [1500, 700], ...Array.from({ length: 4 }, () => [Math.floor(next() * 3800)])];
    await Promise.all(runs.map(async (cuts) => {
      const { frames, all, state } = await read(0, cuts, how);
      assert.equal(state.cut, cuts.length, `cuts ${cuts}`);
      sameFrames(frames, all);
    }));
  });
}

for (const [what, shift] of [["loses", 1], ["repeats", -1]]) {
  test(`a server that ${what} an event when it resumes is found out`, async () => {
    const { frames, all, state } = await read(shift, [1500], "reset");
    assert.equal(state.cut, 1);
    assert.throws(() => sameFrames(frames, all));
  });
}

test("ids that do not grow are found out", () => {
  const frames = (...ids) => ids.map((id, i) => ({ id, event: i === 0 ? "metadata" : "end", data: { run_id: "r" } }));
  checkStream(frames("1-0", "1-1.1", "1-1.2", "1-1", "1-2", "2-0"));
  for (const bad of [["1-0", "1-0"], ["1-1", "1-0"], ["2-0", "1-9"], ["1-0", ""], ["1-1.1", "1-1.1"], ["1-1", "1-1.2"]]) {
    assert.throws(() => checkStream(frames(...bad)), undefined, bad.join(" "));
  }
});
