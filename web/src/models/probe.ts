// A test of a model: what it is asked to do, and how it went, as the server tells it while it goes.
import { useEffect, useRef, useState } from 'react';
import { send } from '../lib/api/client';
import { Lines } from '../lib/stream/log';

/** A model as it is added, or tested before that; without a provider it is the one of the name. */
export interface Entry {
  name?: string;
  provider?: string;
  model?: string;
  base_url?: string;
  api_key?: string;
  settings?: Record<string, unknown>;
}

export const tasks = [
  'answers',
  'streams',
  'tool',
  'parallel',
  'schema',
  'arguments',
  'results',
  'image',
  'thinking',
  'cache',
] as const;
export type Task = (typeof tasks)[number];

export interface Result {
  task: Task;
  outcome: 'pass' | 'fail' | 'n/a';
  detail: string;
  no_answer?: boolean;
  /** A failure that costs money or comfort, not ability. */
  minor?: boolean;
  ms: number;
}

/** What a test has come to. */
export interface Examined {
  results: Result[];
  verdict: 'good as an agent' | 'works, but' | 'too weak to be an agent' | 'no verdict' | 'answers';
  summary: string;
  /** Why it ended early, and what to do. */
  problem?: string;
  remedy?: string;
}

export interface Test {
  /** What is tested, as text: what was tested says nothing of anything else. */
  of: string;
  running: boolean;
  /** Whether the first task alone is done. */
  first: boolean;
  results: Result[];
  end?: Examined;
  /** The server did not test. */
  trouble?: unknown;
}

/** Whether an answer came; one that was not what was asked for is one too, and says what the model can do. */
const answered = (r: Result): boolean => r.outcome === 'pass' || (r.outcome === 'fail' && !r.no_answer);

/** Whether it is known that the model answers. */
export const answers = (t: Test | null): boolean =>
  t?.results.some((r) => r.task === 'answers' && answered(r)) ?? false;

/** Has a model tested; tells each result as it comes. */
export async function test(
  entry: Entry,
  first: boolean,
  signal: AbortSignal,
  tell: (r: Result) => void,
): Promise<Examined> {
  const response = await send('config/models/test', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/x-ndjson' },
    body: JSON.stringify({ ...entry, first }),
    signal,
  });
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  const lines = new Lines();
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true };
    if (done) throw new Error('');
    for (const line of lines.push(decoder.decode(value, { stream: true }))) {
      const read = JSON.parse(line) as Result & Partial<Examined>;
      if (read.verdict) return read as unknown as Examined;
      if (read.task) tell(read);
    }
  }
}

const started = (of: string, first: boolean): Test => ({ of, first, running: true, results: [] });

interface Testing {
  now: Test | null;
  /** The test as it is, also for who began before something came. */
  latest: () => Test | null;
  /**
   * Tests an entry, and says as soon as it is known whether the model answers. What is being tested is not begun anew.
   */
  start: (entry: Entry, first?: boolean) => Promise<boolean>;
  stop: () => void;
}

/** The last tests of models that are stored, by their names, while the page is loaded, and who shows them. */
const last = new Map<string, Test>();
const shown = new Set<(name: string) => void>();

/** Notes what a test has shown of a model that is stored now; null forgets what an earlier one has. */
export function remember(name: string, t: Test | null): void {
  if (t) last.set(name, { ...t, running: false });
  else last.delete(name);
  for (const tell of shown) tell(name);
}

/**
 * A test that a page makes; it ends when the page goes. Of a model that is stored it is what the last one has shown
 * until it is begun.
 */
export function useTest(name = ''): Testing {
  const [now, put] = useState<Test | null>(() => last.get(name) ?? null);
  const latest = useRef(now);
  const set = (next: Test | null): void => {
    latest.current = next;
    put(next);
    if (name && next && !next.running) remember(name, next);
  };
  const control = useRef<{ of: string; abort: AbortController; known: Promise<boolean> } | null>(null);
  useEffect(() => () => control.current?.abort.abort(), []);
  useEffect(() => {
    // The news may have the model in the list before the form that stored it knows its name.
    const tell = (changed: string): void => {
      if (changed !== name || control.current) return;
      latest.current = last.get(name) ?? null;
      put(latest.current);
    };
    shown.add(tell);
    return () => void shown.delete(tell);
  }, [name]);
  const stop = (): void => {
    control.current?.abort.abort();
    control.current = null;
    set(null);
  };
  const start = (entry: Entry, first = false): Promise<boolean> => {
    const of = JSON.stringify(entry);
    if (control.current?.of === of && !first) return control.current.known;
    control.current?.abort.abort();
    const abort = new AbortController();
    const change = (f: (t: Test) => Test): void => {
      const t = latest.current;
      if (!abort.signal.aborted && t?.of === of) set(f(t));
    };
    const known = new Promise<boolean>((resolve) => {
      abort.signal.addEventListener('abort', () => resolve(false));
      test(entry, first, abort.signal, (r) => {
        change((t) => ({ ...t, results: [...t.results, r] }));
        if (r.task === 'answers') resolve(answered(r));
      })
        .then((end) => change((t) => ({ ...t, running: false, results: end.results, end })))
        .catch((trouble: unknown) => change((t) => ({ ...t, running: false, trouble })))
        .finally(() => {
          if (control.current?.abort === abort) control.current = null;
          resolve(false);
        });
    });
    control.current = { of, abort, known };
    set(started(of, first));
    return known;
  };
  return { now, latest: () => latest.current, start, stop };
}
