// What can be done with an answer and with a message, and which of their versions is shown.
import { type ReactNode, useContext, useState } from 'react';
import { SentFiles } from '../files/Adding';
import { define, lasted, thousands, useWords, when } from '../lib/i18n';
import { moneys } from '../lib/money';
import { Link } from '../lib/router';
import { Copy } from '../ui/Copy';
import { Icon } from '../ui/Icon';
import { SpentOf } from './costs';
import { Editing } from './Editing';
import type { Secrets } from './secrets/held';
import { useBring } from './secrets/needs';
import { type Row, textOf, type Versions } from './talk/message';
import type { Run } from './talk/talk';
import type { Turn } from './talk/turns';

export const foot = define(
  {
    copyAnswer: 'Copy the answer',
    copyMessage: 'Copy the message',
    again: 'Answer once more',
    branch: 'Branch from here',
    edit: 'Edit',
    before: 'Earlier version',
    after: 'Later version',
    of: (n: number, all: number) => `${n} of ${all}`,
    tokens: (n: string) => `${n} tokens`,
    inspect: (what: string) => `Inspect the run: ${what}`,
  },
  {
    copyAnswer: '复制回复',
    copyMessage: '复制消息',
    again: '重新回答',
    branch: '从这里分支',
    edit: '编辑',
    before: '上一版本',
    after: '下一版本',
    of: (n: number, all: number) => `${n} / ${all}`,
    tokens: (n: string) => `${n} 词元`,
    inspect: (what: string) => `检查运行：${what}`,
  },
);

/** What a turn asks its page to do. */
export interface Acts {
  again: (message: string, secrets?: Secrets) => void;
  edit: (message: string, words: string, secrets?: Secrets) => void;
  branch: (message: string) => void;
  version: (message: string) => void;
}

/** The arrows between versions: ‹ 1 of 2 ›. */
function VersionsOf({ versions, acts }: { versions: Versions; acts: Acts }): ReactNode {
  const w = useWords(foot);
  if (versions.total < 2) return null;
  const to = (n: number): string | undefined => versions.message_ids[n - 1];
  const step = (n: number, label: string, icon: 'left' | 'right'): ReactNode => {
    const id = to(n);
    return (
      <button
        type="button"
        className="btn ghost icon sm"
        data-version={icon === 'left' ? 'before' : 'after'}
        aria-label={label}
        disabled={!id}
        onClick={() => id && acts.version(id)}
      >
        <Icon name={icon} />
      </button>
    );
  };
  return (
    <span className="versions">
      {step(versions.index - 1, w.before, 'left')}
      <span>{w.of(versions.index, versions.total)}</span>
      {step(versions.index + 1, w.after, 'right')}
    </span>
  );
}

/**
 * When it was answered, how long the run took and what it cost, in money where that is known, else in tokens: the way
 * to the inspector.
 */
function Took({ thread, run, at }: { thread: string; run: Run; at: number }): ReactNode {
  const w = useWords(foot);
  const spent = useContext(SpentOf).get(run.id);
  const tokens = spent ? spent.usage.input_tokens + spent.usage.output_tokens : (run.tokens ?? 0);
  const cost = moneys(spent?.cost) || (tokens > 0 ? w.tokens(thousands(tokens)) : '');
  const what = [run.ended ? lasted(run.ended - run.began) : '', cost].filter(Boolean).join(' · ');
  return (
    // Another cost is another element: nothing moves when one takes the place of another.
    <span className="took num" key={what}>
      <small>{when(at)}</small>
      <Link className="btn ghost sm" to={`/c/${thread}/run/${run.id}`} aria-label={w.inspect(what)}>
        {what}
        <Icon name="inspect" />
      </Link>
    </span>
  );
}

export function Foot({
  thread,
  turn,
  acts,
  busy,
}: {
  thread: string;
  turn: Turn;
  acts: Acts;
  busy: boolean;
}): ReactNode {
  const w = useWords(foot);
  const [bringing, begin] = useBring(turn.ask ? textOf(turn.ask.message) : '');
  const { answer, run } = turn;
  if (!answer) return null;
  const { id } = answer.message;
  return (
    <>
      <div className="turn-foot">
        {answer.versions && <VersionsOf versions={answer.versions} acts={acts} />}
        <Copy bare label={w.copyAnswer} text={() => textOf(answer.message).trim()} />
        {!busy && (
          <>
            <button
              type="button"
              className="btn ghost icon sm"
              aria-label={w.again}
              title={w.again}
              onClick={() => begin(w.again, (secrets) => acts.again(id, secrets))}
            >
              <Icon name="retry" />
            </button>
            <button
              type="button"
              className="btn ghost icon sm"
              aria-label={w.branch}
              title={w.branch}
              onClick={() => acts.branch(id)}
            >
              <Icon name="branch" />
            </button>
          </>
        )}
        <span className="sp" />
        {run ? <Took thread={thread} run={run} at={answer.at} /> : <small className="num">{when(answer.at)}</small>}
      </div>
      {bringing}
    </>
  );
}

/** The words of the user with what can be done with them; while they are edited, a field in their place. */
export function Message({ row, acts, busy }: { row: Row; acts: Acts; busy: boolean }): ReactNode {
  const w = useWords(foot);
  const [editing, edit] = useState(false);
  const text = textOf(row.message);
  if (editing)
    return (
      <Editing
        text={text}
        send={(words, secrets) => acts.edit(row.message.id, words, secrets)}
        close={() => edit(false)}
      />
    );
  return (
    <>
      <SentFiles files={row.message.additional_kwargs?.['files']} />
      <div className="say">{text}</div>
      {row.open ? (
        <div className="turn-foot mine" />
      ) : (
        <div className="turn-foot mine">
          {row.versions && <VersionsOf versions={row.versions} acts={acts} />}
          <Copy bare label={w.copyMessage} text={() => text} />
          {!busy && (
            <button
              type="button"
              className="btn ghost icon sm"
              data-edit
              aria-label={w.edit}
              title={w.edit}
              onClick={() => edit(true)}
            >
              <Icon name="edit" />
            </button>
          )}
        </div>
      )}
    </>
  );
}
