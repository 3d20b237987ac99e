import { afterEach, describe, expect, it, vi } from 'vitest';
import { follow, Lines, parse } from './log';

describe('lines', () => {
  it('are whole however they are cut', () => {
    const text = '{"id":"1-1","kind":"run","time":"","data":{}}\n\n{"run":{"run_id":"r","status":"success"}}\n';
    for (let cut = 0; cut <= text.length; cut++) {
      const lines = new Lines();
      const all = [...lines.push(text.slice(0, cut)), ...lines.push(text.slice(cut))];
      expect(parse(all)).toMatchObject({ events: [{ id: '1-1' }], end: { status: 'success' } });
    }
  });

  it('that are no JSON are passed over', () => {
    expect(parse(['{', 'null', '1', '{"id":"1-2","kind":"new","data":{}}']).events.map((e) => e.id)).toEqual(['1-2']);
  });
});

describe('following a run', () => {
  afterEach(() => vi.unstubAllGlobals());

  const answer = (...lines: string[]): Response => new Response(lines.map((l) => `${l}\n`).join(''));
  const event = (id: string): string => JSON.stringify({ id, kind: 'chunk', time: '', data: {} });
  const end = JSON.stringify({ run: { run_id: 'r', status: 'success' } });

  it('goes on behind the last event when a connection breaks, and ends with the run', async () => {
    const asked: string[] = [];
    const answers = [answer(event('1-1'), event('1-2')), new TypeError('network'), answer(event('1-3'), end)];
    vi.stubGlobal('fetch', (url: string) => {
      asked.push(url);
      const next = answers.shift();
      return next instanceof Response ? Promise.resolve(next) : Promise.reject(next as unknown as Error);
    });
    vi.stubGlobal('addEventListener', () => {});
    vi.stubGlobal('removeEventListener', () => {});
    const seen: string[] = [];
    const there: boolean[] = [];
    await follow({
      thread: 't',
      run: 'r',
      signal: new AbortController().signal,
      batch: (b) => seen.push(...b.events.map((e) => e.id)),
      connected: (c) => there.push(c),
    });
    expect(seen).toEqual(['1-1', '1-2', '1-3']);
    expect(asked.map((u) => u.split('?')[1])).toEqual([undefined, 'after=1-2', 'after=1-2']);
    expect(there).toEqual([true, false, true]);
  });

  it('is over at once when the run is not there', async () => {
    vi.stubGlobal('fetch', () => Promise.resolve(new Response('{"detail":"no"}', { status: 404 })));
    await expect(
      follow({ thread: 't', run: 'r', signal: new AbortController().signal, batch: () => {} }),
    ).rejects.toMatchObject({ status: 404 });
  });
});
