// What a conversation tells of its files: that something was done, what is being written, what was handed over.
import type { View } from '../chat/talk/view';
import type { Run, Talk } from '../chat/talk/talk';
import { partial, type Turn } from '../chat/talk/turns';
import { short } from './data';

/** The run that began last. */
export function lastRun(talk: Talk): Run | undefined {
  return Object.values(talk.runs).reduce<Run | undefined>((a, b) => (a && a.began >= b.began ? a : b), undefined);
}

/** What changes when files may have changed: a tool has answered, or a run has begun or ended. */
export function beatOf(talk: Talk): string {
  const results = talk.rows.reduce((n, r) => n + (r.message.type === 'tool' ? 1 : 0), 0);
  return `${results} ${Object.values(talk.runs)
    .map((r) => r.status)
    .join(' ')}`;
}

/** The file that Pudu writes now, with what it has written of it. */
export function writingOf(view: View): { path: string; text: string } | undefined {
  const last = view.active ? view.talk.rows.at(-1) : undefined;
  if (last?.message.type !== 'ai') return undefined;
  for (const call of last.message.tool_calls ?? []) {
    if (call.name !== 'write_file') continue;
    const half = call.args[''];
    const { path, content } = typeof half === 'string' ? partial(half) : call.args;
    if (typeof path === 'string' && typeof content === 'string') return { path: short(path), text: content };
  }
  return undefined;
}

/** The files that a turn handed over, each once. */
export function givenIn(turn: Turn): string[] {
  const list = turn.steps.flatMap((s) => {
    if (s.kind !== 'call' || s.call.name !== 'present_files' || !s.result || s.result.status === 'error') return [];
    const paths = s.call.args['filepaths'];
    return Array.isArray(paths) ? paths.filter((p): p is string => typeof p === 'string').map(short) : [];
  });
  return [...new Set(list)];
}
