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

/** All that wait; when the last one is decided, the run goes on. */
export default function Approvals({ asked: all, answer }: ApprovalsProps): ReactNode {
  const [decided, setDecided] = useState<Record<string, Decision>>({});
  const [failed, setFailed] = useState(false);
  const w = useWords(asked);
  const list = all.flatMap((a) => actionsOf(a).map((action, i) => ({ key: `${a.id} ${i}`, action, scopes: scopesOf(a, i) })));
  const decide = (key: string, decision: Decision): void => {
    const next = { ...decided, [key]: decision };
    setDecided(next);
    setFailed(false);
    if (list.some((l) => !next[l.key])) return;
    const resume = Object.fromEntries(all.map((a) => [a.id, { decisions: actionsOf(a).map((_, i) => next[`${a.id} ${i}`]) }]));
    void answer(resume).then((there) => {
      if (there) return;
      setDecided({});
      setFailed(true);
    });
  };
  return (
    <>
      {list.map((l, i) =>
        decided[l.key] ? null : (
          <Approval key={l.key} action={l.action} place={list.length > 1 ? w.of(i + 1, list.length) : ''} scopes={l.scopes} decide={(d) => decide(l.key, d)} />
        ),
      )}
      {failed && (
        <p className="note-line bad" role="alert">
          {w.notSent}
        </p>
      )}
    </>
  );
}

interface ApprovalProps {
  action: Action;
  place: string;
  scopes: Scope[];
  decide: (d: Decision) => void;
}

function Approval({ action, place, scopes, decide }: ApprovalProps): ReactNode {
  const w = useWords(asked);
  const id = useId();
  const command = action.args['command'];
  const isCommand = typeof command === 'string';
  const [refusing, setRefusing] = useState(false);
  const [why, setWhy] = useState('');
  const [edited, setEdited] = useState<string | null>(null);
  const [scope, setScope] = useState<Scope>('once');
  const allow = (): void =>
    decide(edited !== null && edited !== command ? { type: 'edit', edited_action: { name: action.name, args: { ...action.args, command: edited } } } : { type: 'approve', ...(scope === 'once' ? {} : { scope }) });
  const reason = /requires approval: (.*)/.exec(action.description ?? '')?.[1];
  return (
    <form
      className="asking"
      aria-labelledby={id}
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
        {place && <span className="at">{place}</span>}
      </header>
      <div className="body">
        {edited === null ? (
          <div className="sql">
            <pre tabIndex={0} aria-label={w.command}>
              {isCommand ? command : JSON.stringify(action.args, null, 2)}
            </pre>
            {isCommand && (
              <button type="button" className="btn ghost sm" onClick={() => setEdited(command)}>
                <Icon name="edit" />
                {w.changeIt}
              </button>
            )}
          </div>
        ) : (
          <textarea className="in mono" rows={3} aria-label={w.command} value={edited} onChange={(e) => setEdited(e.target.value)} autoFocus />
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
        {refusing && <input className="in" aria-label={w.reason} placeholder={w.reason} value={why} onChange={(e) => setWhy(e.target.value)} autoFocus />}
      </div>
      <footer>
        {refusing ? (
          <button type="submit" className="btn danger">
            {w.refuseIt}
          </button>
        ) : (
          <>
            <button type="submit" className="btn primary">
              {w.allow}
              <kbd>Ctrl ↵</kbd>
            </button>
            <button type="button" className="btn" onClick={() => setRefusing(true)}>
              {w.refuse}
            </button>
            <span className="grow" />
            {scopes.length > 1 && edited === null && (
              <Menu
                className="chip"
                title={w.reach}
                end
                items={scopes.map((s) => ({ key: s, label: w[s], on: s === scope, choose: () => setScope(s) }))}
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
