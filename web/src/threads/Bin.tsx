// The bin: what was deleted, until when it stays, and the ways back and out.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api } from '../lib/api/client';
import { useWords, when } from '../lib/i18n';
import { useQueryOf } from '../lib/router';
import { failed } from '../shell/Failure';
import { shell } from '../shell/words';
import { Icon } from '../ui/Icon';
import { Notice } from '../ui/Notice';
import { askSure, Sure } from '../ui/Sure';
import { toast } from '../ui/Toasts';
import { Broken } from './Lists';
import { lists } from './listWords';
import { listsKey } from './tasks';

const key = [...listsKey, 'bin'];

export function Bin(): ReactNode {
  const w = useWords(lists);
  const s = useWords(shell);
  const client = useQueryClient();
  const sure = useQueryOf().get('sure') ?? '';
  const bin = useQuery({
    queryKey: key,
    queryFn: async () => (await api('get', '/trash', { query: { limit: 1000 } })) ?? [],
  });
  if (bin.isError) return <Broken trouble={bin.error} again={() => void bin.refetch()} />;
  if (!bin.data) return null;
  if (bin.data.length === 0) return <Notice icon="trash" text={w.noneInBin} />;
  const nameOf = (t: (typeof bin.data)[number]): string =>
    (typeof t.values['title'] === 'string' && t.values['title']) || s.untitled;
  const work = async (it: Promise<unknown>, said: string): Promise<void> => {
    try {
      await it;
      toast({ text: said });
    } catch (error) {
      failed(error);
    }
    void client.invalidateQueries({ queryKey: key });
  };
  const restore = (t: (typeof bin.data)[number]): void =>
    void work(api('post', '/threads/{thread_id}/restore', { path: { thread_id: t.thread_id } }), w.restored(nameOf(t)));
  const meant = bin.data.find((t) => t.thread_id === sure);
  return (
    <>
      <div className="list">
        {bin.data.map((t) => (
          <div key={t.thread_id} className="task-line binned">
            <Icon name="trash" />
            <span className="ti">
              <b className="cut">{nameOf(t)}</b>
              {t.expires_at && <span className="sn cut">{w.until(when(t.expires_at))}</span>}
            </span>
            <span className="right">
              <button
                type="button"
                className="btn sm"
                aria-label={`${w.restore}: ${nameOf(t)}`}
                onClick={() => restore(t)}
              >
                {w.restore}
              </button>
              <button
                type="button"
                className="btn sm danger"
                aria-label={`${w.forGood}: ${nameOf(t)}`}
                onClick={() => askSure(t.thread_id)}
              >
                {w.forGood}
              </button>
            </span>
          </div>
        ))}
      </div>
      <button type="button" className="btn danger justify-self-start" onClick={() => askSure('all')}>
        <Icon name="trash" />
        {w.empty}
      </button>
      {meant && (
        <Sure
          title={w.sureTask(nameOf(meant))}
          text={w.sureTaskText}
          act={w.forGood}
          go={() =>
            void work(api('delete', '/threads/{thread_id}', { path: { thread_id: meant.thread_id } }), w.emptied(1))
          }
        />
      )}
      {sure === 'all' && (
        <Sure
          title={w.sureEmpty}
          text={w.sureEmptyText}
          act={w.empty}
          go={() => void work(api('delete', '/trash'), w.emptied(bin.data.length))}
        />
      )}
    </>
  );
}
