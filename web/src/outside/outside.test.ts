import { describe, expect, it } from 'vitest';
import { known, longRun, toTell } from './notices';

describe('what is told of a task', () => {
  const now = 1_000_000;
  const play = (id: string, ...steps: [string, number][]): (string | null)[] =>
    steps.map(([state, after]) => toTell({ thread_id: id, state: state as never }, now + after));

  it('is the end of a long run, how it ended, and that somebody is asked', () => {
    expect(play('long', ['running', 0], ['running', 1000], ['answered', longRun])).toEqual([null, null, 'done']);
    expect(play('failed', ['running', 0], ['failed', longRun + 1])).toEqual([null, 'failed']);
    expect(play('asks', ['running', 0], ['waiting', 10], ['running', 20], ['answered', 30])).toEqual([
      null,
      'asks',
      null,
      null,
    ]);
  });

  it('is nothing of a short one, of what was read, and of what was so before', () => {
    expect(play('short', ['running', 0], ['answered', longRun - 1])).toEqual([null, null]);
    expect(play('read', ['running', 0], ['idle', longRun])).toEqual([null, null]);
    known([{ thread_id: 'before', state: 'waiting' as never }]);
    expect(play('before', ['waiting', 1], ['answered', 2])).toEqual([null, null]);
    expect(play('unknown', ['waiting', 1], ['waiting', 2])).toEqual(['asks', null]);
  });
});
