// What a run knew of its user: the facts that it was told, each of which leads to why it is known.
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api } from '../lib/api/client';
import { useWords } from '../lib/i18n';
import { Link } from '../lib/router';
import { memoryKey } from './data';
import { memory, type MemoryWords } from './words';

/** What became of a fact since, in words; of one that stands as it was there are none. */
function sinceOf(now: string, w: MemoryWords): string {
  const known: Record<string, string> = {
    gone: w.nowGone,
    changed: w.nowChanged,
    forgotten: w.actForgotten,
    proposed: w.actProposed,
  };
  return known[now] ?? '';
}

export default function Knew({ thread, run }: { thread: string; run: string }): ReactNode {
  const w = useWords(memory);
  const { data } = useQuery({
    queryKey: [...memoryKey, 'why', thread, run],
    queryFn: async () =>
      (await api('get', '/threads/{thread_id}/runs/{run_id}/memory/why', { path: { thread_id: thread, run_id: run } }))
        .facts ?? [],
  });
  if (!data?.length) return null;
  return (
    <section className="block">
      <h2>
        {w.knew} <span className="num">{data.length}</span>
      </h2>
      <ul className="grid gap-2">
        {data.map((f) => (
          <li key={f.fact_id} className="min-w-0 break-words">
            {f.now === 'forgotten' ? (
              f.content
            ) : (
              <Link to={`/library/memory?fact=${encodeURIComponent(f.fact_id)}`}>{f.content}</Link>
            )}
            {sinceOf(f.now, w) && <span className="soft"> {sinceOf(f.now, w)}</span>}
          </li>
        ))}
      </ul>
    </section>
  );
}
