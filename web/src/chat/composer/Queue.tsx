// What is to come when the run that is under way ends: on a shelf above the composer, to be edited or taken away.
import type { ReactNode } from 'react';
import { define, useWords } from '../../lib/i18n';
import { Icon } from '../../ui/Icon';
import type { Run } from '../talk/talk';

const words = define(
  { edit: 'Edit', remove: 'Remove from the queue', queue: 'Queue' },
  { edit: '编辑', remove: '移出队列', queue: '队列' },
);

interface QueueProps {
  runs: Run[];
  edit: (run: Run) => void;
  drop: (run: Run) => void;
}

export function Queue({ runs, edit, drop }: QueueProps): ReactNode {
  const w = useWords(words);
  if (runs.length === 0) return null;
  return (
    <ul className="shelf" aria-label={w.queue}>
      {runs.map((run) => (
        <li key={run.id} className="queued">
          <Icon name="queue" />
          <span className="cut">{run.says?.text}</span>
          <span className="acts">
            <button type="button" className="btn ghost icon sm" aria-label={w.edit} onClick={() => edit(run)}>
              <Icon name="edit" />
            </button>
            <button type="button" className="btn ghost icon sm" aria-label={w.remove} onClick={() => drop(run)}>
              <Icon name="x" />
            </button>
          </span>
        </li>
      ))}
    </ul>
  );
}
