// What became of the facts: everything that happened, and those that gave way or were refused and can come back.
import { useInfiniteQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api } from '../lib/api/client';
import { errors, sentence } from '../lib/errors';
import { useWords, when } from '../lib/i18n';
import { ask } from '../lib/router';
import { Notice } from '../ui/Notice';
import { actOf, type Entry, memoryKey, useFacts } from './data';
import { Line } from './FactLine';
import { PutBack } from './FactPanel';
import { useGoing } from './forgetting';
import { memory } from './words';

/** Events, the newest first. */
export function Events({ of, open = false }: { of: Entry[]; open?: boolean }): ReactNode {
  const w = useWords(memory);
  return (
    <ol className="fact-events">
      {of.map((x) => (
        <li key={x.number}>
          <time dateTime={x.at}>{when(x.at)}</time>
          <span>
            {actOf(x, w)}
            {open && (x.after ?? x.before) && (
              <>
                {': '}
                {x.act === 'forgotten' || !x.fact_id ? (
                  (x.after ?? x.before)
                ) : (
                  <button type="button" className="underline" onClick={() => ask({ fact: x.fact_id })}>
                    {x.after ?? x.before}
                  </button>
                )}
              </>
            )}
            {x.before && x.after && x.before !== x.after && <small>{w.was(x.before)}</small>}
            {x.why && <small>{x.why}</small>}
          </span>
        </li>
      ))}
    </ol>
  );
}

const page = 50;

export function History(): ReactNode {
  const w = useWords(memory);
  const e = useWords(errors);
  const pages = useInfiniteQuery({
    queryKey: [...memoryKey, 'history'],
    queryFn: async ({ pageParam }) =>
      (await api('get', '/memory/history', { query: { limit: page, ...(pageParam ? { before: pageParam } : {}) } }))
        .history ?? [],
    initialPageParam: 0,
    getNextPageParam: (last) => (last.length === page ? last.at(-1)?.number : undefined),
  });
  if (pages.error) return <Notice icon="alert" text={sentence(pages.error, e)} />;
  const all = pages.data?.pages.flat();
  if (!all) return null;
  if (all.length === 0) return <Notice icon="clock" text={w.noHistory} />;
  return (
    <>
      <Events of={all} open />
      {pages.hasNextPage && (
        <button
          type="button"
          className="btn justify-self-center"
          disabled={pages.isFetchingNextPage}
          onClick={() => void pages.fetchNextPage()}
        >
          {w.older}
        </button>
      )}
    </>
  );
}

export function Gone(): ReactNode {
  const w = useWords(memory);
  const e = useWords(errors);
  const going = useGoing();
  const { data, error } = useFacts('gone');
  if (error) return <Notice icon="alert" text={sentence(error, e)} />;
  const list = data?.filter((f) => !going.has(f.fact_id));
  if (!list) return null;
  if (list.length === 0) return <Notice icon="memory" text={w.noneGone} />;
  return (
    <ul className="list">
      {list.map((f) => (
        <Line key={f.fact_id} fact={f}>
          <PutBack id={f.fact_id} />
        </Line>
      ))}
    </ul>
  );
}
