import { describe, expect, it } from 'vitest';
import { branchTitle, byDay, byTime, type Task, withTask } from './tasks';

const task = (thread_id: string, updated_at: string, more: Partial<Task> = {}): Task => ({
  thread_id,
  updated_at,
  created_at: updated_at,
  state: '',
  title: thread_id,
  metadata: {},
  read_at: null,
  ...more,
});

describe('tasks', () => {
  it('stand below their days, each once', () => {
    const now = new Date('2026-11-25T12:00:00');
    const at = (days: number): string => new Date(now.getTime() - days * 86_400_000).toISOString();
    const all = [
      task('now', at(0)),
      task('asks', at(40), { state: 'waiting' }),
      task('pinned', at(3), { metadata: { deerflow_pinned: true } }),
      task('before', at(1)),
      task('week', at(4)),
      task('month', at(20)),
      task('old', at(90)),
    ];
    expect(byDay(all, now).map(([day, list]) => [day, list.map((t) => t.thread_id)])).toEqual([
      ['waiting', ['asks']],
      ['pinned', ['pinned']],
      ['today', ['now']],
      ['yesterday', ['before']],
      ['week', ['week']],
      ['month', ['month']],
      ['earlier', ['old']],
    ]);
  });

  it('that are archived or temporary stand below no day', () => {
    const at = new Date().toISOString();
    expect(
      byDay([
        task('a', at, { archived: true }),
        task('t', at, { temporary: true }),
        task('w', at, { archived: true, state: 'waiting' }),
      ]),
    ).toEqual([]);
  });

  it('that go on from others are the second, the third of them', () => {
    expect(branchTitle('Sums', [{ title: 'Sums' }])).toBe('2 of Sums');
    expect(branchTitle('2 of Sums', [{ title: 'Sums' }, { title: '2 of Sums' }])).toBe('3 of Sums');
    expect(branchTitle('', [])).toBe('');
  });

  it('stand by when they were updated, whatever was told of them last', () => {
    expect(
      byTime([task('moved', '2026-01-02'), task('new', '2026-01-03'), task('old', '2026-01-01')]).map(
        (t) => t.thread_id,
      ),
    ).toEqual(['new', 'moved', 'old']);
  });

  it('keep their order when one changes', () => {
    const list = [task('b', '2026-01-03'), task('a', '2026-01-02')];
    expect(withTask(list, task('a', '2026-01-04')).map((t) => t.thread_id)).toEqual(['a', 'b']);
    expect(withTask(list, task('c', '2026-01-01')).map((t) => t.thread_id)).toEqual(['b', 'a', 'c']);
  });
});
