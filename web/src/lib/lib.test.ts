import { readFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { icons } from '../ui/Icon';
import { faultsOf, fill, onSignedOut, queryOf, send, sentenceOf, signedIn } from './api/client';
import { uuid } from './ids';
import { lasted, sized } from './i18n';
import { match } from './router';

describe('addresses', () => {
  it('have places', () => {
    expect(match('/c/:thread', '/c/a%20b')).toEqual({ thread: 'a b' });
    expect(match('/c/:thread', '/c')).toBeNull();
    expect(match('/settings/:page?', '/settings')).toEqual({});
    expect(match('/c/:thread', '/c/%E0%A4%A')).toEqual({ thread: '%E0%A4%A' });
    expect(match('/', '/x')).toBeNull();
  });

  it('of routes are filled without leaving their place', () => {
    expect(fill('/threads/{thread_id}/artifacts/{path}', { thread_id: '../x', path: 'outputs/a b.txt' })).toBe(
      '/threads/..%2Fx/artifacts/outputs/a%20b.txt',
    );
    expect(queryOf({ a: [1, 2], b: undefined, c: '' })).toBe('?a=1&a=2');
  });
});

describe('words', () => {
  it('tell times and sizes', () => {
    expect([0, 176, 9_400, 12_000, 252_000, 7_500_000].map((m) => lasted(m))).toEqual([
      '0.0 s',
      '0.2 s',
      '9.4 s',
      '12 s',
      '4 min 12 s',
      '2 h 5 min',
    ]);
    expect(lasted(3000, true)).toBe('3 s');
    expect([5, 5200, 140_000_000].map(sized)).toEqual(['5 B', '5.2 KB', '140 MB']);
  });

  it('of an error are the sentence of the server', () => {
    expect(sentenceOf('{"detail":"No such thread"}')).toBe('No such thread');
    expect(sentenceOf('{"detail":[{"loc":[]}],"message":"a is missing"}')).toBe('a is missing');
    expect(sentenceOf('<html>502</html>')).toBe('');
    expect(
      faultsOf(
        '{"detail":[{"loc":["body","a"],"msg":"x"},{"loc":["body","a"],"msg":"y"},{"loc":["query","b"],"msg":"z"},null,{}]}',
      ),
    ).toEqual({ a: 'x' });
    expect([faultsOf('{"detail":"No"}'), faultsOf('<html>')]).toEqual([{}, {}]);
  });
});

it('a refusal during which somebody signs in is asked for again', async () => {
  const asked = vi.fn();
  onSignedOut(asked);
  const refused = new Response('', { status: 401 });
  vi.spyOn(refused, 'text').mockImplementation(() => {
    signedIn();
    return Promise.resolve('');
  });
  const answers = [refused, new Response('there')];
  vi.stubGlobal('fetch', () => Promise.resolve(answers.shift()));
  expect(await (await send('threads', {})).text()).toBe('there');
  expect(asked).not.toHaveBeenCalled();
  vi.unstubAllGlobals();
});

it('icons are those that are drawn', () => {
  const drawn = [
    ...readFileSync(new URL('../ui/icons.svg', import.meta.url), 'utf8').matchAll(/id="i-([a-z0-9-]+)"/g),
  ].map((m) => m[1]);
  expect([...icons]).toEqual(drawn);
});

it('ids are UUIDs', () => {
  expect(uuid()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});
