// Calls that wait for somebody to allow them: what exactly is to happen, why it is asked, and what one may do.
import { type ReactNode, useId, useState } from 'react';
import { useWords } from '../../lib/i18n';
import { Icon } from '../../ui/Icon';
import { Menu } from '../../ui/Menu';
import { toast } from '../../ui/Toasts';
import { given, type Secret, type Secrets } from '../secrets/held';
import { useGap, useTyped } from '../secrets/needs';
import SecretFields from '../secrets/SecretFields';
import type { Arrival } from '../talk/requests';
import type { Asked } from '../talk/talk';
import { asked } from './words';
import { type Scope, unwrite, write as keep, type Written, writtenOf } from './written';

interface Action {
  name: string;
  args: Record<string, unknown>;
  description?: string;
}

export type Decision =
  | { type: 'approve'; scope?: Scope }
  | { type: 'reject'; message: string }
  | { type: 'edit'; edited_action: { name: string; args: Record<string, unknown> } };

/** How far an answer may reach, as the question says. */
function scopesOf(a: Asked, i: number): Scope[] {
  const reviews = (a.value as { review_configs?: { scopes?: Scope[] }[] } | null)?.review_configs ?? [];
  return reviews[i]?.scopes ?? [];
}

/** The actions that a question of a run is about. */
export const actionsOf = (a: Asked): Action[] =>
  (a.value as { action_requests?: Action[] } | null)?.action_requests ?? [];

/** The secrets that the run of a question could use: it has ended with that, and its secrets with it. */
export const secretsOf = (a: Asked): Secret[] => (a.value as { secrets?: Secret[] } | null)?.secrets ?? [];

interface ApprovalsProps {
  thread: string;
  asked: Asked[];
  answer: (resume: unknown, secrets?: Secrets) => Promise<Arrival>;
}

/**
 * All that wait. Each question is answered by itself, when its own calls are decided; the others stay open. A secret
 * that several of them want is typed once.
 */
export default function Approvals({ thread, asked: all, answer }: ApprovalsProps): ReactNode {
  const [typed, type] = useTyped(thread);
  const total = all.reduce((n, a) => n + actionsOf(a).length, 0);
  let before = 0;
  return all.map((a) => {
    const first = before;
    before += actionsOf(a).length;
    return (
      <One
        key={a.id}
        thread={thread}
        asked={a}
        first={first}
        total={total}
        typed={typed}
        type={type}
        answer={(resume) => answer(resume, given(typed, all.flatMap(secretsOf)))}
      />
    );
  });
}

interface OneProps {
  thread: string;
  asked: Asked;
  /** How many calls stand before its own, and how many there are. */
  first: number;
  total: number;
  typed: Secrets;
  type: (typed: Secrets) => void;
  answer: (resume: unknown) => Promise<Arrival>;
}

/** One question: the server takes the decisions on all its calls together. */
function One({ thread, asked: a, first, total, typed, type, answer }: OneProps): ReactNode {
  const [decided, setDecided] = useState<Record<number, Decision>>({});
  const [state, setState] = useState<'open' | 'sending' | 'failed'>('open');
  const w = useWords(asked);
  const actions = actionsOf(a);
  const needs = secretsOf(a);
  const gap = useGap(a.id, needs, typed);
  const decide = (i: number, decision: Decision): void => {
    if (state === 'sending' || (decision.type !== 'reject' && !gap.ready())) return;
    const next = { ...decided, [i]: decision };
    setDecided(next);
    if (actions.some((_, k) => !next[k])) return;
    setState('sending');
    void answer({ [a.id]: { decisions: actions.map((_, k) => next[k]) } }).then((there) => {
      setDecided({});
      setState(there ? 'open' : 'failed');
      if (there) unwrite(a.id);
      if (there === 'elsewhere') toast({ text: w.elsewhere });
    });
  };
  return (
    <>
      {actions.map((action, i) =>
        decided[i] && state !== 'sending' ? null : (
          <Approval
            key={i}
            written={writtenOf(a.id, i)}
            keep={(written) => keep(thread, a.id, i, written)}
            action={action}
            place={total > 1 ? w.of(first + i + 1, total) : ''}
            scopes={scopesOf(a, i)}
            sending={state === 'sending'}
            decide={(d) => decide(i, d)}
          >
            {needs.length > 0 && (
              <SecretFields goes="answer" needs={needs} values={typed} change={type} missing={gap.missing} />
            )}
          </Approval>
        ),
      )}
      {state === 'failed' && (
        <p className="note-line bad" role="alert">
          {w.notSent}
        </p>
      )}
    </>
  );
}

interface ApprovalProps {
  /** What was typed into it before, and how that is kept. */
  written: Written;
  keep: (written: Written) => void;
  action: Action;
  place: string;
  scopes: Scope[];
  /** Its answer is on its way. */
  sending: boolean;
  decide: (d: Decision) => void;
  /** What else is asked for. */
  children?: ReactNode;
}

function Approval({ written, keep, action, place, scopes, sending, decide, children }: ApprovalProps): ReactNode {
  const w = useWords(asked);
  const id = useId();
  const command = action.args['command'];
  const isCommand = typeof command === 'string';
  const [{ refusing, why, edited, scope }, setWritten] = useState(written);
  const write = (some: Partial<Written>): void => {
    const all = { refusing, why, edited, scope, ...some };
    keep(all);
    setWritten(all);
  };
  const allow = (): void =>
    decide(
      edited !== null && edited !== command
        ? { type: 'edit', edited_action: { name: action.name, args: { ...action.args, command: edited } } }
        : { type: 'approve', ...(scope === 'once' ? {} : { scope }) },
    );
  const reason = /requires approval: (.*)/.exec(action.description ?? '')?.[1];
  return (
    <form
      className="asking"
      aria-labelledby={place ? `${id} ${id}at` : id}
      onSubmit={(e) => {
        e.preventDefault();
        if (refusing) decide({ type: 'reject', message: why });
        else allow();
      }}
      onKeyDown={(e) => {
        if (e.key !== 'Enter' || !(e.ctrlKey || e.metaKey)) return;
        e.preventDefault();
        e.currentTarget.requestSubmit();
      }}
    >
      <header>
        <Icon name="shield" />
        <span id={id}>{isCommand ? w.mayRun : w.mayUse(action.name)}</span>
        {place && (
          <span className="at" id={`${id}at`}>
            {place}
          </span>
        )}
      </header>
      <div className="body">
        {edited === null ? (
          <div className="sql">
            <pre role="group" tabIndex={0} aria-label={w.command}>
              {isCommand ? command : JSON.stringify(action.args, null, 2)}
            </pre>
            {isCommand && (
              <button type="button" className="btn ghost sm" onClick={() => write({ edited: command })}>
                <Icon name="edit" />
                {w.changeIt}
              </button>
            )}
          </div>
        ) : (
          <textarea
            className="in mono"
            rows={3}
            aria-label={w.command}
            value={edited}
            onChange={(e) => write({ edited: e.target.value })}
            autoFocus
          />
        )}
        <dl className="facts">
          <dt>{w.tool}</dt>
          <dd className="mono">{action.name}</dd>
          {reason && (
            <>
              <dt>{w.why}</dt>
              <dd>{reason}</dd>
            </>
          )}
        </dl>
        {refusing && (
          <input
            className="in"
            aria-label={w.reason}
            placeholder={w.reason}
            value={why}
            onChange={(e) => write({ why: e.target.value })}
            autoFocus
          />
        )}
        {children}
      </div>
      <footer>
        {refusing ? (
          <button type="submit" className="btn danger" disabled={sending}>
            {sending ? w.sending : w.refuseIt}
          </button>
        ) : (
          <>
            <button type="submit" className="btn primary" disabled={sending}>
              {sending ? w.sending : w.allow}
              <kbd>Ctrl ↵</kbd>
            </button>
            <button type="button" className="btn" onClick={() => write({ refusing: true })}>
              {w.refuse}
            </button>
            <span className="grow" />
            {scopes.length > 1 && edited === null && (
              <Menu
                className="chip"
                title={w.reach}
                end
                items={scopes.map((s) => ({ key: s, label: w[s], on: s === scope, choose: () => write({ scope: s }) }))}
              >
                {w[scope]}
                <Icon name="down" className="i car" />
              </Menu>
            )}
          </>
        )}
      </footer>
    </form>
  );
}
