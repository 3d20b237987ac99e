// A turn: the person's words, what Pudu did about them, the answer, and how it ended.
import { memo, type ReactNode, useEffect, useState } from 'react';
import { errors, sentence } from '../lib/errors';
import { lasted, useWords, when } from '../lib/i18n';
import { Markdown } from '../markdown/Markdown';
import { Copy } from '../ui/Copy';
import { Icon } from '../ui/Icon';
import { Mark } from '../ui/Mark';
import { textOf } from './talk/message';
import { isActive, type Step, type Turn } from './talk/turns';
import { Seconds, Trail } from './trail/Trail';
import { chat } from './words';

interface TurnProps {
  turn: Turn;
  last: boolean;
  /** Why its words did not get to the server. */
  trouble?: unknown;
  again: (turn: Turn) => void;
  goOn: () => void;
}

export const TurnView = memo(function TurnView({ turn, last, trouble, again, goOn }: TurnProps): ReactNode {
  const waits = !turn.run && !!turn.ask?.open;
  return (
    <section className={last ? 'turn last' : 'turn'}>
      {turn.ask && <Said turn={turn} trouble={trouble} again={() => again(turn)} />}
      {(turn.steps.length > 0 || turn.run || waits) && !trouble && <RunView turn={turn} />}
      {turn.answer && <Markdown text={textOf(turn.answer.message).trim()} writing={!!turn.answer.open} />}
      <End turn={turn} last={last} goOn={goOn} />
      {turn.answer && !turn.answer.open && <Foot turn={turn} />}
    </section>
  );
});

function Said({ turn, trouble, again }: { turn: Turn; trouble: unknown; again: () => void }): ReactNode {
  const w = useWords(chat);
  const e = useWords(errors);
  return (
    <article className="me" aria-label={w.you}>
      <h2 className="sr">{w.you}</h2>
      <div className="say">{turn.ask && textOf(turn.ask.message)}</div>
      {trouble !== undefined && (
        <div className="note bad" role="alert">
          <Icon name="alert" />
          {w.notSent} {sentence(trouble, e)}
          <button type="button" className="btn sm" onClick={again}>
            {w.retry}
          </button>
        </div>
      )}
    </article>
  );
}

const calls = (steps: Step[]): number => steps.filter((s) => s.kind === 'call').length;

/** The head of a run with its trail: open while it works, and while somebody watched it; else folded behind how long it took. */
function RunView({ turn }: { turn: Turn }): ReactNode {
  const w = useWords(chat);
  const active = isActive(turn.run) || !turn.run;
  const [open, setOpen] = useState(active);
  useEffect(() => {
    if (active) setOpen(true);
  }, [active]);
  const { run, steps } = turn;
  const n = calls(steps);
  if (active) {
    return (
      <section className="run" aria-label={w.working}>
        <div className="run-head">
          <Mark live />
          <span>
            <b>{run?.status === 'running' ? w.working : w.starting}</b> <span className="soft">{run && <Seconds since={run.began} />}</span>
          </span>
          <span className="right num">{n > 0 && w.step(n)}</span>
        </div>
        <Trail steps={steps} active />
      </section>
    );
  }
  if (steps.length === 0) return null;
  return (
    <details className="run" open={open} onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary className="run-head">
        <Mark />
        <span>
          <b>{run?.ended ? w.worked(lasted(run.ended - run.began)) : w.worked('')}</b> {n > 0 && <span className="soft">{w.steps(n)}</span>}
        </span>
        <span className="right">
          <Icon name="right" className="i chev own" />
        </span>
      </summary>
      {open && <Trail steps={steps} active={false} />}
    </details>
  );
}

/** A line that says how a run ended, if not by itself. */
function End({ turn, last, goOn }: { turn: Turn; last: boolean; goOn: () => void }): ReactNode {
  const w = useWords(chat);
  const { run } = turn;
  if (!run || isActive(run)) return null;
  const more = last && (
    <button type="button" className="btn sm" onClick={goOn}>
      {w.goOnButton}
    </button>
  );
  if (run.status === 'interrupted' || run.stopReason === 'cancelled') {
    return (
      <div className="stopline">
        <i className="sq" />
        <span>{w.stopped}</span>
        {more}
      </div>
    );
  }
  if (run.status === 'error') {
    return (
      <div className="stopline bad" role="alert">
        <Icon name="x" />
        <span>{run.error ? w.failed(run.error) : w.failedPlain}</span>
        {more}
      </div>
    );
  }
  if (run.stopReason?.endsWith('_capped')) {
    return (
      <div className="stopline">
        <Icon name="info" />
        <span>{w.limit}</span>
        {more}
      </div>
    );
  }
  return null;
}

/** What can be done with an answer. */
function Foot({ turn }: { turn: Turn }): ReactNode {
  const w = useWords(chat);
  const answer = turn.answer;
  if (!answer) return null;
  return (
    <div className="turn-foot">
      <Copy bare label={w.copyAnswer} text={() => textOf(answer.message).trim()} />
      <span className="sp" />
      <small className="num">{when(answer.at)}</small>
    </div>
  );
}
