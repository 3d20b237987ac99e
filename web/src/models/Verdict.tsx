// What a test has shown, line by line, while it goes and after it.
import type { ReactNode } from 'react';
import { errors, sentence } from '../lib/errors';
import { Trouble } from '../lib/api/client';
import { answeredIn, useWords } from '../lib/i18n';
import { Glyph } from '../ui/Glyph';
import { Icon } from '../ui/Icon';
import { type Result, tasks, type Test } from './probe';
import { models } from './words';

/** The tasks that were tried, and the one that is under way. */
export function Verdict({ of: t }: { of: Test }): ReactNode {
  const w = useWords(models);
  const tried = t.results.filter((r) => r.outcome !== 'n/a' || r.detail !== 'not tried');
  const next = t.running ? tasks[t.results.length] : undefined;
  if (tried.length === 0 && !next) return null;
  return (
    <ul className="verdict" aria-label={w.verdict} aria-busy={t.running}>
      {tried.map((r) => (
        <Line key={r.task} result={r} />
      ))}
      {next && (
        <li key={next}>
          <Glyph state="live" />
          <span>{w[`task_${next}`]}</span>
        </li>
      )}
    </ul>
  );
}

function Line({ result: r }: { result: Result }): ReactNode {
  const w = useWords(models);
  // What costs no ability has no mark.
  const state = { pass: 'done', fail: r.minor ? 'read' : 'bad', 'n/a': 'read' } as const;
  return (
    <li title={r.detail}>
      <Glyph state={state[r.outcome]} />
      <span>{w[`task_${r.task}`]}</span>
      <span className="at">{r.outcome === 'n/a' ? w.notClaimed : r.outcome === 'pass' ? answeredIn(r.ms) : ''}</span>
      {r.outcome === 'fail' && <small>{w[`fails_${r.task}`](r.detail)}</small>}
    </li>
  );
}

/** What the test comes to, in a sentence; a failed one says why, in the provider's words, and what helps. */
export function Outcome({ of: t, refused = false }: { of: Test; refused?: boolean }): ReactNode {
  const w = useWords(models);
  const e = useWords(errors);
  if (t.trouble !== undefined) return <Bad text={t.trouble instanceof Trouble ? sentence(t.trouble, e) : w.brokeOff} />;
  if (!t.end) return null;
  const { verdict, problem, remedy, summary } = t.end;
  const failed = t.results.filter((r) => r.outcome === 'fail' && !r.minor);
  const names = failed.map((r) => w[`task_${r.task}`]).join(', ');
  switch (verdict) {
    case 'no verdict':
      return <Bad text={(refused ? w.refused : w.failed)(problem ?? summary)} more={remedy ? w.remedy(remedy) : ''} />;
    case 'too weak to be an agent':
      return (
        <p className="note-line ask">
          <Icon name="alert" />
          <span>{w.weak(names || summary)}</span>
        </p>
      );
    case 'works, but':
      return <p className="soft">{names ? w.but(names) : summary}</p>;
    default:
      return <p className="soft">{verdict === 'answers' ? w.answered : w.good}</p>;
  }
}

function Bad({ text, more = '' }: { text: string; more?: string }): ReactNode {
  return (
    <div className="note-line bad" role="alert">
      <Icon name="alert" />
      <div className="min-w-0 break-words">
        <p>{text}</p>
        {more && <p>{more}</p>}
      </div>
    </div>
  );
}
