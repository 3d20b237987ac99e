// Calls that wait for somebody to allow them: what exactly is to happen, why it is asked, and what one may do.
import { type ReactNode, useId, useState } from 'react';
import { useWords } from '../../lib/i18n';
import { Icon } from '../../ui/Icon';
import type { Asked } from '../talk/talk';
import { asked } from './words';

interface Action {
  name: string;
  args: Record<string, unknown>;
  description?: string;
}

export type Decision = { type: 'approve' } | { type: 'reject'; message: string } | { type: 'edit'; edited_action: { name: string; args: Record<string, unknown> } };

/** The actions that a question of a run is about. */
export const actionsOf = (a: Asked): Action[] => (a.value as { action_requests?: Action[] } | null)?.action_requests ?? [];

interface ApprovalsProps {
  asked: Asked[];
  answer: (resume: unknown) => Promise<boolean>;
}

/** All that wait; when the last one is decided, the run goes on. */
export function Approvals({ asked: all, answer }: ApprovalsProps): ReactNode {
  const [decided, setDecided] = useState<Record<string, Decision>>({});
  const [failed, setFailed] = useState(false);
  const w = useWords(asked);
  const list = all.flatMap((a) => actionsOf(a).map((action, i) => ({ key: `${a.id} ${i}`, action })));
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
          <Approval key={l.key} action={l.action} place={list.length > 1 ? w.of(i + 1, list.length) : ''} decide={(d) => decide(l.key, d)} first={i === 0} />
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
  first: boolean;
  decide: (d: Decision) => void;
}

function Approval({ action, place, decide }: ApprovalProps): ReactNode {
  const w = useWords(asked);
  const id = useId();
  const command = action.args['command'];
  const isCommand = typeof command === 'string';
  const [refusing, setRefusing] = useState(false);
  const [why, setWhy] = useState('');
  const [edited, setEdited] = useState<string | null>(null);
  const allow = (): void =>
    decide(edited !== null && edited !== command ? { type: 'edit', edited_action: { name: action.name, args: { ...action.args, command: edited } } } : { type: 'approve' });
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
          </>
        )}
      </footer>
    </form>
  );
}
