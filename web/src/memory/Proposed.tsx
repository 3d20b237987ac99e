// Facts that wait for a yes: their words are not the user's own.
import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api } from '../lib/api/client';
import { useWords } from '../lib/i18n';
import { useSaving } from '../ui/useSaving';
import { again, type Fact, useFacts } from './data';
import { Line } from './FactLine';
import { useGoing } from './forgetting';
import { memory } from './words';

export function Proposed(): ReactNode {
  const w = useWords(memory);
  const client = useQueryClient();
  const going = useGoing();
  const saving = useSaving();
  const list = useFacts('proposed').data?.filter((f) => !going.has(f.fact_id)) ?? [];
  if (list.length === 0) return null;
  const decide = (f: Fact, what: 'accept' | 'refuse'): void =>
    void saving.save(async () => {
      await api('post', `/memory/facts/{fact_id}/${what}`, { path: { fact_id: f.fact_id } });
      await again(client);
    });
  return (
    <section aria-labelledby="would-keep">
      <h2 id="would-keep" className="group-of">
        {w.wouldKeep} <span className="num">{list.length}</span>
      </h2>
      <ul className="list">
        {list.map((f) => (
          <Line key={f.fact_id} fact={f}>
            <button
              type="button"
              className="btn sm"
              disabled={saving.busy}
              aria-label={`${w.keep}: ${f.content}`}
              onClick={() => decide(f, 'accept')}
            >
              {w.keep}
            </button>
            <button
              type="button"
              className="btn ghost sm"
              disabled={saving.busy}
              aria-label={`${w.no}: ${f.content}`}
              onClick={() => decide(f, 'refuse')}
            >
              {w.no}
            </button>
          </Line>
        ))}
      </ul>
      {saving.trouble && (
        <p className="note-line bad" role="alert">
          {saving.trouble}
        </p>
      )}
    </section>
  );
}
