// A call of a tool: one line, which opens to its arguments, what it said, and how it ended.
import { memo, type ReactNode, useEffect, useState } from 'react';
import { lasted, useWords } from '../../lib/i18n';
import { Glyph } from '../../ui/Glyph';
import { Icon } from '../../ui/Icon';
import { CallDetail } from './CallDetail';
import { type CallStep, exitOf, type Outcome, outcomeOf, reasonOf, refusalOf, resultOf } from './outcome';
import { objectOf, toolOf } from './tools';
import { trail } from './words';

export const CallLine = memo(function CallLine({ step, active }: { step: CallStep; active: boolean }): ReactNode {
  const outcome = outcomeOf(step, active);
  // What nobody knows is open: it asks.
  const [open, setOpen] = useState<boolean | null>(outcome === 'maybe' ? true : null);
  // A command that says something opens by itself while it runs, and stays as it is then.
  const talks = outcome === 'live' && !!step.live?.output;
  useEffect(() => {
    if (outcome === 'maybe') setOpen((was) => was ?? true);
  }, [outcome]);
  useEffect(() => {
    if (talks) setOpen((was) => was ?? true);
  }, [talks]);
  return (
    <details
      className={`step${outcome === 'bad' ? ' bad' : ''}`}
      open={open === true}
      onToggle={(e) => setOpen(e.currentTarget.open || (open === null ? null : false))}
    >
      <summary>
        <Node step={step} outcome={outcome} />
        {/* Other words for another outcome are other elements: nothing moves when one takes the place of another. */}
        <What key={`what ${outcome}`} step={step} outcome={outcome} />
        <Meta key={`meta ${outcome}`} step={step} outcome={outcome} />
        <Icon name="right" className="i chev" />
      </summary>
      {open && <CallDetail step={step} outcome={outcome} />}
    </details>
  );
});

interface PartProps {
  step: CallStep;
  outcome: Outcome;
}

function Node({ step, outcome }: PartProps): ReactNode {
  return <span className="node">{drawing(step, outcome)}</span>;
}

function drawing(step: CallStep, outcome: Outcome): ReactNode {
  switch (outcome) {
    case 'will':
      return <Glyph state="todo" />;
    case 'live':
      return <Glyph state="live" />;
    case 'bad':
      return <Icon name="x" />;
    case 'refused':
    case 'notAllowed':
      return <Icon name="shield" />;
    case 'stopped':
      return <i className="sq" />;
    case 'maybe':
      return <Glyph state="maybe" />;
    case 'done':
      return <Icon name={toolOf(step.call.name).icon} />;
  }
}

function What({ step, outcome }: PartProps): ReactNode {
  const w = useWords(trail);
  const tool = toolOf(step.call.name);
  const object = objectOf(step.call) || (outcome === 'bad' ? step.call.name : '');
  const [doing, did, failed] = tool.verbs;
  const verbs: Record<Outcome, string> = {
    will: step.call.name === 'bash' ? w.willRun : w.will,
    live: w[doing] as string,
    done: w[did] as string,
    bad: w[failed] as string,
    refused: w.refused,
    notAllowed: w.notAllowed,
    stopped: w.stopped,
    maybe: w.perhaps,
  };
  const note = typeof step.call.args['description'] === 'string' ? step.call.args['description'] : '';
  return (
    <span className="what">
      <span className={outcome === 'maybe' ? 'verb maybe' : 'verb'}>{verbs[outcome]}</span>
      {object && <span className={tool.words ? 'txt' : 'obj'}>{object}</span>}
      {!object && note && <span className="txt">{note}</span>}
      {(outcome === 'refused' || outcome === 'notAllowed') && (
        <span className="txt">
          {outcome === 'refused' && refusalOf(step) ? w.quoted(refusalOf(step)) : refusalOf(step)}
        </span>
      )}
    </span>
  );
}

function Meta({ step, outcome }: PartProps): ReactNode {
  const w = useWords(trail);
  const took = outcome === 'maybe' ? undefined : step.live?.millis;
  const text = resultOf(step);
  const code = exitOf(step);
  return (
    <span className="meta">
      {outcome === 'bad' && <span className="why cut">{code ? w.exit(code) : reasonOf(step)}</span>}
      {outcome === 'done' && <span className="opt">{countOf(step, text, w)}</span>}
      {outcome === 'live' && step.live?.began ? (
        <Seconds since={step.live.began} />
      ) : (
        took !== undefined && <span>{outcome === 'stopped' ? w.after(lasted(took)) : lasted(took)}</span>
      )}
    </span>
  );
}

/** How much a call brought, where that tells something. */
function countOf(
  step: CallStep,
  text: string,
  w: { lines: (n: number) => string; results: (n: number) => string },
): string {
  const { name } = step.call;
  if (name === 'web_search' || name === 'image_search') {
    try {
      const list: unknown = JSON.parse(text);
      return Array.isArray(list) ? w.results(list.length) : '';
    } catch {
      return '';
    }
  }
  const found = /^Found (\d+) /.exec(text)?.[1];
  if (found) return w.results(Number(found));
  if (!['bash', 'read_file', 'ls'].includes(name) || text === '(no output)') return '';
  return w.lines(text.trimEnd().split('\n').length);
}

/** Seconds that count. */
export function Seconds({ since }: { since: number }): ReactNode {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const text = lasted(Math.max(0, Math.floor((now - since) / 1000)) * 1000, true);
  return (
    <span className="num" key={text.length}>
      {text}
    </span>
  );
}
