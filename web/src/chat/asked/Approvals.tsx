// Calls that wait for somebody to allow them: what exactly is to happen, why it is asked, and what one may do.
import { type ReactNode, useId, useState } from 'react';
import { useWords } from '../../lib/i18n';
import { Icon } from '../../ui/Icon';
import { Menu } from '../../ui/Menu';
import type { Asked } from '../talk/talk';
import { asked } from './words';

interface Action {
  name: string;
  args: Record<string, unknown>;
  description?: string;
}

type Scope = 'once' | 'thread' | 'always';

export type Decision = { type: 'approve'; scope?: Scope } | { type: 'reject'; message: string } | { type: 'edit'; edited_action: { name: string; args: Record<string, unknown> } };

/** How far an answer may reach, as the question says. */
function scopesOf(a: Asked, i: number): Scope[] {
  const reviews = (a.value as { review_configs?: { scopes?: Scope[] }[] } | null)?.review_configs ?? [];
  return reviews[i]?.scopes ?? [];
}

/** The actions that a question of a run is about. */
export const actionsOf = (a: Asked): Action[] => (a.value as { action_requests?: Action[] } | null)?.action_requests ?? [];

interface ApprovalsProps {
  asked: Asked[];
  answer: (resume: unknown) => Promise<boolean>;
}

/** What was written into a card, by its key: a question that is asked again while another one is answered has it still. Memory of the page alone. */
interface Written {
  refusing: boolean;
  why: string;
  edited: string | null;
  scope: Scope;
}

const written = new Map<string, Written>();
const untouched: Written = { refusing: false, why: '', edited: null, scope: 'once' };

/** All that wait. Each question is answered by itself, when its own calls are decided; the others stay open. */
export default function Approvals({ asked: all, answer }: ApprovalsProps): ReactNode {
  const total = all.reduce((n, a) => n + actionsOf(a).length, 0);
  let before = 0;
  return all.map((a) => {
    const first = before;
    before += actionsOf(a).length;
    return <One key={a.id} asked={a} first={first} total={total} answer={answer} />;
  });
}

interface OneProps {
  asked: Asked;
  /** How many calls stand before its own, and how many there are. */
  first: number;
  total: number;
  answer: (resume: unknown) => Promise<boolean>;
}

/** One question: the server takes the decisions on all its calls together. */
function One({ asked: a, first, total, answer }: OneProps): ReactNode {
  const [decided, setDecided] = useState<Record<number, Decision>>({});
  const [state, setState] = useState<'open' | 'sending' | 'failed'>('open');
  const w = useWords(asked);
  const actions = actionsOf(a);
  const decide = (i: number, decision: Decision): void => {
    if (state === 'sending') return;
    const next = { ...decided, [i]: decision };
    setDecided(next);
    if (actions.some((_, k) => !next[k])) return;
    setState('sending');
    void answer({ [a.id]: { decisions: actions.map((_, k) => next[k]) } }).then((there) => {
      setDecided({});
      setState(there ? 'open' : 'failed');
      if (there) actions.forEach((_, k) => written.delete(`${a.id} ${k}`));
    });
  };
  return (
    <>
      {actions.map((action, i) =>
        decided[i] && state !== 'sending' ? null : (
          <Approval
            key={i}
            id={`${a.id} ${i}`}
            action={action}
            place={total > 1 ? w.of(first + i + 1, total) : ''}
            scopes={scopesOf(a, i)}
            sending={state === 'sending'}
            decide={(d) => decide(i, d)}
          />
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
  /** By which what is written into it is kept. */
  id: string;
  action: Action;
  place: string;
  scopes: Scope[];
  /** Its answer is on its way. */
  sending: boolean;
  decide: (d: Decision) => void;
}

function Approval({ id: key, action, place, scopes, sending, decide }: ApprovalProps): ReactNode {
  const w = useWords(asked);
  const id = useId();
  const command = action.args['command'];
  const isCommand = typeof command === 'string';
  const [{ refusing, why, edited, scope }, setWritten] = useState(() => written.get(key) ?? untouched);
  const write = (some: Partial<Written>): void => {
    const all = { refusing, why, edited, scope, ...some };
    written.set(key, all);
    setWritten(all);
  };
  const allow = (): void =>
    decide(edited !== null && edited !== command ? { type: 'edit', edited_action: { name: action.name, args: { ...action.args, command: edited } } } : { type: 'approve', ...(scope === 'once' ? {} : { scope }) });
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
            <pre tabIndex={0} aria-label={w.command}>
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
          <textarea className="in mono" rows={3} aria-label={w.command} value={edited} onChange={(e) => write({ edited: e.target.value })} autoFocus />
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
          <input className="in" aria-label={w.reason} placeholder={w.reason} value={why} onChange={(e) => write({ why: e.target.value })} autoFocus />
        )}
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
