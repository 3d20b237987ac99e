// A TCP proxy that cuts connections: the n-th connection is cut after cuts[n] bytes of the response's body.
import net from "node:net";

/** random is a small seeded generator of numbers in [0, 1), so that a failure can be repeated. */
export function random(seed) {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/**
 * cutting starts a proxy to target. cuts[n] is the number of body bytes after which connection n is cut, Infinity for
 * never; connections beyond the list are left alone. how is "reset" (RST) or "close" (FIN).
 */
export async function cutting(target, cuts, how = "reset") {
  const to = new URL(target);
  const state = { made: 0, cut: 0 };
  const sockets = new Set();
  const server = net.createServer((down) => {
    const limit = cuts[state.made++] ?? Infinity;
    const up = net.connect(Number(to.port), to.hostname);
    for (const s of [down, up]) {
      sockets.add(s);
      s.on("error", () => s.destroy());
      s.on("close", () => sockets.delete(s));
    }
    down.pipe(up);
    up.on("data", limiter(down, up, limit, how, state));
    up.on("end", () => down.end());
    up.on("close", () => down.end());
    down.on("close", () => up.destroy());
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    state,
    close() {
      for (const s of sockets) s.destroy();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

/** limiter passes a response on until limit bytes of its body have gone through, then cuts. */
function limiter(down, up, limit, how, state) {
  let head = Buffer.alloc(0);
  let inBody = false;
  let sent = 0;
  return (chunk) => {
    if (!inBody) {
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf("\r\n\r\n");
      if (end < 0) return;
      inBody = true;
      down.write(head.subarray(0, end + 4));
      chunk = head.subarray(end + 4);
    }
    const rest = limit - sent;
    if (chunk.length < rest) {
      sent += chunk.length;
      down.write(chunk);
      return;
    }
    state.cut++;
    up.removeAllListeners("data");
    up.destroy();
    const last = chunk.subarray(0, Math.max(rest, 0));
    // A reset may overtake what was written before it, so it waits until that is on its way.
    down.write(last, () => (how === "reset" ? setTimeout(() => down.resetAndDestroy(), 5) : down.destroy()));
  };
}
