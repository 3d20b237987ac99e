// What is still to come, on a shelf above the composer, to be edited or taken away: what the run that is under way
// reads before its next step, and what starts when it ends.
import type { ReactNode } from 'react';
import { define, useWords } from '../../lib/i18n';
import { Icon } from '../../ui/Icon';
import type { Steer } from '../talk/steers';
import type { Run } from '../talk/talk';

const words = define(
  {
    edit: 'Edit',
    remove: 'Remove from the queue',
    takeBack: 'Take back',
    queue: 'Queue',
    said: 'Read before the next step',
    waits: 'Starts when this run ends',
  },
  {
    edit: '编辑',
    remove: '移出队列',
    takeBack: '撤回',
    queue: '队列',
    said: '下一步之前读取',
    waits: '本次运行结束后开始',
  },
);

interface QueueProps {
  steers: Steer[];
  runs: Run[];
  edit: (text: string) => void;
  unsteer: (steer: Steer) => void;
  drop: (run: Run) => void;
}

export function Queue({ steers, runs, edit, unsteer, drop }: QueueProps): ReactNode {
  const w = useWords(words);
  if (runs.length + steers.length === 0) return null;
  return (
    <ul className="shelf" aria-label={w.queue}>
      {steers.map((s) => (
        <Line
          key={s.id}
          icon="enter"
          text={s.text}
          hint={w.said}
          remove={w.takeBack}
          edit={edit}
          drop={() => unsteer(s)}
        />
      ))}
      {runs.map((run) => (
        <Line
          key={run.id}
          icon="queue"
          text={run.says?.text ?? ''}
          hint={w.waits}
          remove={w.remove}
          edit={edit}
          drop={() => drop(run)}
        />
      ))}
    </ul>
  );
}

interface LineProps {
  icon: 'enter' | 'queue';
  text: string;
  hint: string;
  remove: string;
  edit: (text: string) => void;
  drop: () => void;
}

function Line({ icon, text, hint, remove, edit, drop }: LineProps): ReactNode {
  const w = useWords(words);
  return (
    <li className="queued">
      <Icon name={icon} />
      <span className="cut">{text}</span>
      <span className="acts">
        <small className="soft">{hint}</small>
        <button
          type="button"
          className="btn ghost icon sm"
          aria-label={w.edit}
          onClick={() => {
            edit(text);
            drop();
          }}
        >
          <Icon name="edit" />
        </button>
        <button type="button" className="btn ghost icon sm" aria-label={remove} title={remove} onClick={drop}>
          <Icon name="x" />
        </button>
      </span>
    </li>
  );
}
