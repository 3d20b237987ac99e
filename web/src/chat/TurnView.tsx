// A turn: the person's words, what Pudu did about them, the answer, and how it ended.
import { memo, type ReactNode, useEffect, useState } from 'react';
import { Given } from '../files/Given';
import { Trouble } from '../lib/api/client';
import { errors, sentence } from '../lib/errors';
import { lasted, useWords } from '../lib/i18n';
import { Markdown } from '../markdown/Markdown';
import { useHold } from '../markdown/Maths';
import { Icon } from '../ui/Icon';
import { Mark } from '../ui/Mark';
import { Answers, Asking } from './asked/Asking';
import type { Secrets } from './secrets/held';
import { useBring } from './secrets/needs';
import { textOf } from './talk/message';
import { Lost } from './talk/outbox';
import type { Arrival } from './talk/requests';
import type { Asked } from './talk/talk';
import { isActive, type Step, type Turn } from './talk/turns';
import { isUnknown } from './trail/outcome';
import { Deciding } from './trail/Unknown';
import { Seconds, Trail } from './trail/Trail';
import { type Acts, Foot, Message } from './TurnFoot';
import { chat } from './words';

interface TurnProps {
  thread: string;
  turn: Turn;
  last: boolean;
  /** A run is under way: nothing can be answered once more now. */
  busy: boolean;
  /** Calls that wait for somebody to allow them, and what was answered to questions. */
  waiting: Asked[];
  answers: Map<string, unknown>;
  /** Why its words did not get to the server. */
  trouble?: unknown;
  acts: TurnActs;
}

export interface TurnActs extends Acts {
  resend: (turn: Turn) => void;
  /** Takes back what did not get to the server, to be changed. */
  unsay: (turn: Turn) => void;
  /** Tries once more what failed. */
  retry: (turn: Turn, secrets?: Secrets) => void;
  goOn: (secrets?: Secrets) => void;
  /** Says what to do about a call of which nobody knows whether it happened. */
  decide: (words: string) => void;
  answer: (resume: unknown, secrets?: Secrets) => Promise<Arrival>;
  detail: (run: string) => void;
}

export const TurnView = memo(function TurnView({
  thread,
  turn,
  last,
  busy,
  waiting,
  answers,
  trouble,
  acts,
}: TurnProps): ReactNode {
  const waits = !turn.run && !!turn.ask?.open;
  const [watched] = useState(waits || isActive(turn.run));
  const said = turn.answer ? textOf(turn.answer.message).trim() : '';
  const hold = useHold(said, watched);
  return (
    <section className={last ? 'turn last' : 'turn'} data-turn={turn.key}>
      {turn.ask && <Said turn={turn} trouble={trouble} busy={busy} acts={acts} />}
      {(turn.steps.length > 0 || turn.run || waits) && !trouble && (
        <RunView thread={thread} turn={turn} last={last} waiting={last && waiting.length > 0} acts={acts} />
      )}
      <Answers turn={turn} answers={answers} />
      {turn.answer && <Markdown text={said} writing={!!turn.answer.open} hold={hold} />}
      <Asking
        thread={thread}
        turn={turn}
        last={last}
        busy={busy}
        waiting={waiting}
        answers={answers}
        answer={acts.answer}
      />
      {!hold && <Given thread={thread} turn={turn} />}
      {!hold && <End turn={turn} last={last} acts={acts} />}
      {turn.answer && !turn.answer.open && !hold && !turn.goesOn && (
        <Foot thread={thread} turn={turn} acts={acts} busy={busy} />
      )}
    </section>
  );
});

interface SaidProps {
  turn: Turn;
  trouble: unknown;
  busy: boolean;
  acts: TurnActs;
}

function Said({ turn, trouble, busy, acts }: SaidProps): ReactNode {
  const w = useWords(chat);
  const e = useWords(errors);
  // The same words with other secrets are no other version of the words.
  const edit: Acts['edit'] = (id, words, secrets) =>
    secrets && turn.last && turn.ask && words === textOf(turn.ask.message).trim()
      ? acts.again(turn.last, secrets)
      : acts.edit(id, words, secrets);
  return (
    <article className="me" aria-label={w.you}>
      <h2 className="sr">{w.you}</h2>
      {turn.ask && <Message row={turn.ask} acts={{ ...acts, edit }} busy={busy} />}
      {trouble !== undefined && (
        <div className="note bad" role="alert">
          <Icon name="alert" />
          <span>{unsentWords(trouble, w, e)}</span>
          {!(trouble instanceof Lost) && (
            <button type="button" className="btn sm" onClick={() => acts.resend(turn)}>
              {w.retry}
            </button>
          )}
          <button type="button" className="btn ghost sm" onClick={() => acts.unsay(turn)}>
            {trouble instanceof Lost ? w.edit : w.takeBack}
          </button>
        </div>
      )}
    </article>
  );
}

/** Why a message did not go out, and what becomes of it. */
function unsentWords(trouble: unknown, w: typeof chat.en, e: typeof errors.en): string {
  if (trouble instanceof Lost) return w.secretsLost;
  if (trouble instanceof Trouble && trouble.status === 0 && !navigator.onLine) return w.goesOffline;
  if (trouble instanceof Trouble && trouble.status === 401) return w.goesSignedOut;
  return `${w.notSent} ${sentence(trouble, e)}`;
}

const calls = (steps: Step[]): number => steps.filter((s) => s.kind === 'call').length;

/**
 * The head of a run with its trail: open while it works, and while somebody watched it; else folded behind how long it
 * took.
 */
function RunView({
  thread,
  turn,
  last,
  waiting,
  acts,
}: {
  thread: string;
  turn: Turn;
  last: boolean;
  waiting: boolean;
  acts: TurnActs;
}): ReactNode {
  const w = useWords(chat);
  const active = !turn.goesOn && (isActive(turn.run) || !turn.run);
  // What asks, or ended without an answer, is open: its last lines are what one looks for.
  const [open, setOpen] = useState(active || waiting || !turn.answer || (last && turn.steps.some(isUnknown)));
  // A head that was there while somebody watched stays, so that the answer below it does not move.
  const [watched] = useState(active);
  useEffect(() => {
    if (active || waiting) setOpen(true);
  }, [active, waiting]);
  const over = turn.run && !active ? turn.run.id : '';
  useEffect(() => {
    if (open && over) acts.detail(over);
  }, [open, over, acts]);
  const { run, steps } = turn;
  const n = calls(steps);
  if (active) {
    return (
      <section className="run" aria-label={w.working}>
        <div className="run-head">
          <Mark live />
          <span>
            <b>{run?.status === 'running' ? w.working : w.starting}</b>
            {run && (
              <span className="soft">
                {' '}
                <Seconds since={run.began} />
              </span>
            )}
          </span>
          <span className="right num">{n > 0 && w.step(n)}</span>
        </div>
        <Deciding value={last ? acts.decide : null}>
          <Trail thread={thread} run={run?.id ?? ''} steps={steps} active />
        </Deciding>
      </section>
    );
  }
  const took = run?.ended && !turn.goesOn ? w.worked(lasted(run.ended - run.began)) : w.worked('');
  if (steps.length === 0) {
    if (!watched) return null;
    return (
      <div className="run-head">
        <Mark />
        <b>{took}</b>
      </div>
    );
  }
  return (
    <details className="run" open={open} onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary className="run-head">
        <Mark />
        <span>
          <b>{waiting ? w.waitsFor : took}</b> {n > 0 && <span className="soft">{w.steps(n)}</span>}
        </span>
        <span className="right">
          <Icon name="right" className="i chev own" />
        </span>
      </summary>
      {open && (
        <Deciding value={last ? acts.decide : null}>
          <Trail thread={thread} run={run?.id ?? ''} steps={steps} active={false} />
        </Deciding>
      )}
    </details>
  );
}

/** A line that says how a run ended, if not by itself. */
function End({ turn, last, acts }: { turn: Turn; last: boolean; acts: TurnActs }): ReactNode {
  const w = useWords(chat);
  const [bringing, begin] = useBring(turn.ask ? textOf(turn.ask.message) : '');
  const { run } = turn;
  if (!run || isActive(run) || turn.goesOn) return null;
  const more = last && (
    <button type="button" className="btn sm" onClick={() => begin(w.goOnButton, acts.goOn)}>
      {w.goOnButton}
    </button>
  );
  if (run.stopReason === 'cancelled' || (run.status === 'interrupted' && run.stopped)) {
    return (
      <>
        <div className="stopline">
          <i className="sq" />
          <span>{w.stopped}</span>
          {more}
        </div>
        {bringing}
      </>
    );
  }
  if (run.status === 'error') {
    return (
      <>
        <div className="stopline bad" role="alert">
          <Icon name="x" />
          <span>{run.error ? w.failed(run.error) : w.failedPlain}</span>
          {last && (
            <button
              type="button"
              className="btn sm"
              onClick={() => begin(w.retry, (secrets) => acts.retry(turn, secrets))}
            >
              {w.retry}
            </button>
          )}
        </div>
        {bringing}
      </>
    );
  }
  if (run.stopReason?.endsWith('_capped')) {
    return (
      <>
        <div className="stopline">
          <Icon name="info" />
          <span>{w.limit}</span>
          {more}
        </div>
        {bringing}
      </>
    );
  }
  return null;
}
