import { expect, it } from 'vitest';
import { forgetSecrets, gapIn, given, heldOf, hold, onForget, release } from './held';

const needs = [{ name: 'KEY' }, { name: 'REGION', optional: true }, { name: 'USER' }];

it('of what is typed go those that are asked for and not empty', () => {
  expect(given({ KEY: 'k', REGION: '', OTHER: 'x' }, needs)).toEqual({ KEY: 'k' });
  expect(given({ KEY: '', OTHER: 'x' }, needs)).toBeUndefined();
});

it('the first one that is needed and empty is the gap', () => {
  expect([gapIn({}, needs), gapIn({ KEY: 'k' }, needs), gapIn({ KEY: 'k', USER: 'u' }, needs)]).toEqual([
    'KEY',
    'USER',
    '',
  ]);
});

it('they are held until they are released, or the session ends', () => {
  let cleared = 0;
  const end = onForget(() => cleared++);
  hold('a', { KEY: 'a' });
  hold('b', { KEY: 'b' });
  release('a');
  expect([heldOf('a'), heldOf('b')]).toEqual([undefined, { KEY: 'b' }]);
  forgetSecrets();
  end();
  forgetSecrets();
  expect([heldOf('b'), cleared]).toEqual([undefined, 1]);
});
