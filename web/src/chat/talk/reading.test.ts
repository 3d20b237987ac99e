import { afterEach, expect, it, vi } from 'vitest';
import { readThread } from './reading';

afterEach(() => vi.unstubAllGlobals());

const now = Date.parse('2026-11-27T10:00:00Z');
const runEnded = (ended: number) => [
  {
    run_id: 'r',
    status: 'success',
    created_at: new Date(now - 90_000).toISOString(),
    updated_at: new Date(ended).toISOString(),
  },
];

/** A server whose messages are others when they are asked for again; it gives how often they were. */
function serve(runs: unknown): () => number {
  let asked = 0;
  vi.stubGlobal('fetch', (url: string) => {
    const body = url.includes('/messages/page')
      ? { data: [{ seq: ++asked, content: { id: `m${asked}` } }], has_more: false }
      : url.includes('/runs')
        ? runs
        : [];
    return Promise.resolve(new Response(JSON.stringify(body), { headers: { Date: new Date(now).toUTCString() } }));
  });
  return () => asked;
}
const read = (known = {}) => readThread('t', { limit: 60 }, () => known, new AbortController().signal);

it('reads all of a thread at once', async () => {
  const asked = serve(runEnded(now - 60_000));
  expect(await read()).toMatchObject({ data: [{ seq: 1 }], runs: { r: { status: 'success' } }, steers: [] });
  expect(asked()).toBe(1);
});

it('reads the messages again when a run has ended meanwhile: what it said last may be missing', async () => {
  const asked = serve(runEnded(now + 20));
  expect((await read()).data).toMatchObject([{ seq: 2 }]);
  expect(asked()).toBe(2);
});

it('does not when the end of the run was known before', async () => {
  const asked = serve(runEnded(now));
  await read({ r: { id: 'r', status: 'success', began: now - 90_000, ended: now } });
  expect(asked()).toBe(1);
});
