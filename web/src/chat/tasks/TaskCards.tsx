// Sub-agents in the trail: a card for each, with where it stands. It opens to its question, what it did, its answer, a
// word to it and its stop.
import { type FormEvent, type ReactNode, useMemo, useState } from 'react';
import { Trouble } from '../../lib/api/client';
import { errors, sentence } from '../../lib/errors';
import { lasted, thousands, useWords } from '../../lib/i18n';
import { Link } from '../../lib/router';
import { Markdown } from '../../markdown/Markdown';
import { Glyph } from '../../ui/Glyph';
import { Icon } from '../../ui/Icon';
import { textOf } from '../talk/message';
import { Seconds } from '../trail/CallLine';
import type { CallStep } from '../trail/outcome';
import { objectOf, toolOf } from '../trail/tools';
import { Trail } from '../trail/Trail';
import { trail } from '../trail/words';
import { stopOf, wordTo } from './child';
import { stepOf, type Task, taskOf } from './told';
import { tasks } from './words';

interface CardsProps {
  thread: string;
  run: string;
  steps: CallStep[];
  active: boolean;
}

export default function TaskCards({ thread, run, steps, active }: CardsProps): ReactNode {
  const w = useWords(tasks);
  const all = useMemo(() => steps.map((s) => taskOf(s, active)), [steps, active]);
  const count = (state: Task['state']): number => all.filter((t) => t.state === state).length;
  const states = w.states(count('live'), count('done'));
  return (
    <>
      {all.length > 1 && (
        <div className="step-line">
          <span className="node">
            <Icon name="fork" />
          </span>
          <span className="what">
            <span className="verb">{w.several(all.length)}</span>
          </span>
          {/* Other figures are other elements here too: nothing moves when one takes the place of another. */}
          <span className="meta opt" key={states}>
            {states}
          </span>
        </div>
      )}
      <div className="agents">
        {all.map((task, i) => (
          <Card key={task.call || i} thread={thread} run={run} task={task} />
        ))}
      </div>
    </>
  );
}

function Card({ thread, run, task }: { thread: string; run: string; task: Task }): ReactNode {
  const w = useWords(tasks);
  const [open, setOpen] = useState(false);
  const live = task.state === 'live';
  const steps = task.turn?.steps.filter((s) => s.kind === 'call').length ?? 0;
  return (
    <details open={open} onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>
        <Glyph state={task.state} />
        <b className="cut">{task.description || task.kind}</b>
        <span className="meta" key={`${task.state} ${steps} ${task.tokens}`}>
          {steps > 0 && <span className="opt">{w.steps(steps)}</span>}
          {task.tokens > 0 && <span className="opt">{w.tokens(thousands(task.tokens))}</span>}
          {live ? <Seconds since={task.began} /> : task.ended > 0 && <span>{lasted(task.ended - task.began)}</span>}
        </span>
        <Icon name="right" className="i chev" />
        <span className="now cut">
          <Now task={task} />
        </span>
      </summary>
      {open && (
        <div className="inner">
          <p className="ask">{task.prompt}</p>
          {task.turn && task.turn.steps.length > 0 && (
            <Trail thread={task.thread} run={task.run} steps={task.turn.steps} active={live} />
          )}
          {task.turn?.answer && <Markdown text={textOf(task.turn.answer.message).trim()} writing={false} />}
          {task.thread && <Acts thread={thread} run={run} task={task} />}
        </div>
      )}
    </details>
  );
}

/** Where it stands, in a line: what it does, what it said, why it failed. */
function Now({ task }: { task: Task }): ReactNode {
  const w = useWords(tasks);
  const t = useWords(trail);
  const kind = task.kind && `${task.kind} · `;
  const said = task.turn?.answer ? (textOf(task.turn.answer.message).trim().split('\n')[0] ?? '') : '';
  const step = stepOf(task.turn);
  switch (task.state) {
    case 'ask':
      return kind + w.waits;
    case 'bad':
      return kind + (task.late ? w.timedOut : task.error || w.failed);
    case 'stopped':
      return kind + w.stopped;
    case 'live':
      if (step) return `${kind}${t[toolOf(step.call.name).verbs[0]] as string} ${objectOf(step.call)}`;
      return kind + (said || w.begins);
    default:
      return kind + said;
  }
}

function Acts({ thread, run, task }: { thread: string; run: string; task: Task }): ReactNode {
  const w = useWords(tasks);
  const e = useWords(errors);
  const [text, setText] = useState('');
  const [busy, setBusy] = useState(false);
  const [said, setSaid] = useState<{ text: string; bad: boolean }>();
  const live = task.state === 'live';
  const act = async (work: () => Promise<unknown>, then: () => void, late: string): Promise<void> => {
    setBusy(true);
    try {
      await work();
      then();
    } catch (error) {
      setSaid({
        text: late && error instanceof Trouble && error.status === 409 ? late : sentence(error, e),
        bad: true,
      });
    }
    setBusy(false);
  };
  const say = (event: FormEvent): void => {
    event.preventDefault();
    const words = text.trim();
    if (!words || busy) return;
    const done = (): void => {
      setText('');
      setSaid({ text: w.said, bad: false });
    };
    void act(() => wordTo(task.thread, words), done, w.tooLate);
  };
  return (
    <form className="child-acts" onSubmit={say}>
      {(live || text) && (
        <>
          <input
            className="in grow"
            aria-label={w.word(task.description)}
            placeholder={w.sample}
            value={text}
            maxLength={20_000}
            onChange={(event) => setText(event.target.value)}
          />
          <button type="submit" className="btn sm" disabled={busy || !text.trim()}>
            <Icon name="steer" />
            {w.send}
          </button>
        </>
      )}
      {live && (
        <button
          type="button"
          className="btn sm"
          disabled={busy}
          onClick={() =>
            void act(
              () => stopOf(task.thread, task.run),
              () => setSaid(undefined),
              '',
            )
          }
        >
          {w.stop}
        </button>
      )}
      <Link className="btn sm" to={`/c/${thread}/sub/${encodeURIComponent(task.call)}${run ? `?run=${run}` : ''}`}>
        <Icon name="expand" />
        {w.open}
      </Link>
      {said && (
        <p className={said.bad ? 'note-line bad' : 'note-line'} role={said.bad ? 'alert' : 'status'}>
          {said.text}
        </p>
      )}
    </form>
  );
}
