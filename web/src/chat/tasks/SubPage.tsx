// A sub-agent's own page: the conversation that it has with its task, below the name of the one that gave it.
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Trouble } from '../../lib/api/client';
import { errors, sentence } from '../../lib/errors';
import { useWords } from '../../lib/i18n';
import { Link, useQueryOf } from '../../lib/router';
import { Shell } from '../../shell/Shell';
import { useTask } from '../../threads/tasks';
import { Notice } from '../../ui/Notice';
import ThreadPage from '../ThreadPage';
import { childOf } from './child';
import { tasks } from './words';

export default function SubPage({ thread, call }: { thread: string; call: string }): ReactNode {
  const w = useWords(tasks);
  const e = useWords(errors);
  const run = useQueryOf().get('run');
  const title = useTask(thread)?.title;
  const { data, error } = useQuery({
    queryKey: ['sub', thread, call, run],
    queryFn: ({ signal }) => childOf(thread, call, run, signal),
    staleTime: Infinity,
  });
  if (data) {
    const back = title ? w.from(title) : w.back;
    return (
      <ThreadPage
        key={data.thread}
        thread={data.thread}
        above={{ to: `/c/${thread}`, back, title: data.description || w.sub, word: w.sample }}
      />
    );
  }
  const gone = data === null || (error instanceof Trouble && (error.status === 404 || error.status === 422));
  return (
    <Shell>
      {(gone || error) && (
        <div className="page">
          <h1 className="sr">{w.sub}</h1>
          <Notice icon="fork" text={gone ? w.none : sentence(error, e)}>
            <Link className="btn primary" to={`/c/${thread}`}>
              {w.back}
            </Link>
          </Notice>
        </div>
      )}
    </Shell>
  );
}
