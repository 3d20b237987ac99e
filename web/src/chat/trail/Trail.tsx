// The trail of a turn: what Pudu did, line by line. For who comes to it, finished lines beyond six are folded; failures
// never are.
import { lazy, memo, type ReactNode, Suspense, useState } from 'react';
import { lasted, useWords } from '../../lib/i18n';
import { Markdown } from '../../markdown/Markdown';
import { Icon } from '../../ui/Icon';
import { Glyph } from '../../ui/Glyph';
import type { Step } from '../talk/turns';
import { chat } from '../words';
import { CallLine, Seconds } from './CallLine';
import { type CallStep, outcomeOf } from './outcome';

const TaskCards = lazy(() => import('../tasks/TaskCards'));

/** How many finished lines stand before earlier ones fold. */
const stands = 6;

interface TrailProps {
  /** Where the steps are of. */
  thread: string;
  run: string;
  steps: Step[];
  active: boolean;
}

export function Trail({ thread, run, steps, active }: TrailProps): ReactNode {
  const w = useWords(chat);
  const [all, setAll] = useState(false);
  // What is folded is what had happened when somebody came: under the eye of who watches nothing folds.
  const [come] = useState(() => Math.max(0, steps.length - stands - (active ? 1 : 0)));
  const from = all ? 0 : come;
  const folded = steps.slice(0, from).filter((s) => !stays(s, active));
  return (
    <div className="trail">
      {folded.length > 0 && (
        <button type="button" className="fold" onClick={() => setAll(true)}>
          <span className="node">
            <Icon name="dots" />
          </span>
          <span>{w.earlier(folded.length)}</span>
        </button>
      )}
      {grouped(steps.filter((step, i) => i >= from || stays(step, active))).map((step) =>
        Array.isArray(step) ? (
          <Suspense
            key={step[0]?.key}
            fallback={<div className="agents-place" style={{ height: placeOf(step.length) }} />}
          >
            <TaskCards thread={thread} run={run} steps={step} active={active} />
          </Suspense>
        ) : (
          <Line key={step.key} step={step} active={active} />
        ),
      )}
    </div>
  );
}

/** The steps, with those that give tasks to sub-agents side by side as one. */
function grouped(steps: Step[]): (Step | CallStep[])[] {
  const out: (Step | CallStep[])[] = [];
  for (const step of steps) {
    const last = out.at(-1);
    if (step.kind !== 'call' || step.call.name !== 'task') out.push(step);
    else if (Array.isArray(last)) last.push(step);
    else out.push([step]);
  }
  return out;
}

/** How high the cards of sub-agents are, closed, in pixels: their place while they are fetched. */
const placeOf = (cards: number): number => (cards > 1 ? 32 : 0) + cards * 59 + 1;

/** Whether a line never folds: it failed, or it is not done. */
const stays = (step: Step, active: boolean): boolean => step.kind === 'call' && outcomeOf(step, active) !== 'done';

const Line = memo(function Line({ step, active }: { step: Step; active: boolean }): ReactNode {
  switch (step.kind) {
    case 'thought':
      return <Thought step={step} />;
    case 'say':
      return (
        <div className="said">
          <Markdown text={step.text} writing={!!step.row.open} />
        </div>
      );
    case 'call':
      return <CallLine step={step} active={active} />;
  }
});

function Thought({ step }: { step: Extract<Step, { kind: 'thought' }> }): ReactNode {
  const w = useWords(chat);
  const [open, setOpen] = useState(false);
  const first = /^[\s\S]{0,160}?[.!?。！？](?=\s|$)/.exec(step.text)?.[0] ?? step.text.slice(0, 160);
  return (
    <details className="step" open={open} onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>
        <span className="node">{step.open ? <Glyph state="live" /> : <Icon name="think" />}</span>
        <span className="what">
          <span className="verb">{step.open ? w.thinking : w.thought}</span>
          <span className="txt">{first}</span>
        </span>
        {/* How long it took stands behind it, as with calls: before it, it would move the text. */}
        <span className="meta">{!step.open && !!step.millis && <span>{lasted(step.millis)}</span>}</span>
        <Icon name="right" className="i chev" />
      </summary>
      {open && (
        <div className="open plain">
          {step.text.split(/\n{2,}/).map((p, i) => (
            <p key={i}>{p}</p>
          ))}
        </div>
      )}
    </details>
  );
}

export { Seconds };
