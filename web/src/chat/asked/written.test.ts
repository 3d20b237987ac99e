import { describe, expect, it } from 'vitest';
import { keepOpen, unwrite, write, writtenOf } from './written';

const said = (why: string) => ({ refusing: true, why, edited: null, scope: 'once' as const });

describe('what was typed for questions', () => {
  it('is kept by question and call until that is answered', () => {
    write('t', 'a', 0, said('first'));
    write('t', 'a', 1, said('second'));
    expect([writtenOf('a', 0).why, writtenOf('a', 1).why, writtenOf('b', 0).refusing]).toEqual([
      'first',
      'second',
      false,
    ]);
    unwrite('a');
    expect([writtenOf('a', 0).why, writtenOf('a', 1).why]).toEqual(['', '']);
  });

  it('goes with a question that is no longer open, of that thread alone', () => {
    for (const [thread, question] of [
      ['t', 'a'],
      ['t', 'b'],
      ['u', 'c'],
    ] as const)
      write(thread, question, 0, said(question));
    keepOpen('t', [{ id: 'b' }]);
    expect(['a', 'b', 'c'].map((q) => writtenOf(q, 0).why)).toEqual(['', 'b', 'c']);
    keepOpen('u', []);
    keepOpen('t', []);
    expect(['a', 'b', 'c'].map((q) => writtenOf(q, 0).why)).toEqual(['', '', '']);
  });

  it('is of a hundred questions at most, those that were typed for last', () => {
    for (let i = 0; i < 100; i++) write('t', `q${i}`, 0, said(`${i}`));
    write('t', 'q0', 0, said('again'));
    write('u', 'one more', 0, said('new'));
    expect([
      writtenOf('q0', 0).why,
      writtenOf('q1', 0).why,
      writtenOf('q2', 0).why,
      writtenOf('one more', 0).why,
    ]).toEqual(['again', '', '2', 'new']);
  });
});
