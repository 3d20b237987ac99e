import { expect, it } from 'vitest';
import { nextOf } from './next';

it('goes on within the server alone', () => {
  const to = (next: string, base = '/'): string =>
    nextOf(`?next=${encodeURIComponent(next)}`, base, 'https://pudu.example');
  expect(to('/c/1?panel=run#m-2')).toBe('https://pudu.example/c/1?panel=run#m-2');
  expect(to('/c/1', '/below/')).toBe('https://pudu.example/below/c/1');
  for (const other of [
    '',
    'https://evil.example/',
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    'javascript:alert(1)',
    '/../../x',
    '///evil.example',
    '/\t/evil.example',
  ])
    expect(new URL(to(other)).origin, other).toBe('https://pudu.example');
  for (const up of ['/../x', '../x', '/%2e%2e/x'])
    expect(to(up, '/below/'), up).toMatch(/^https:\/\/pudu\.example\/below\//);
});
