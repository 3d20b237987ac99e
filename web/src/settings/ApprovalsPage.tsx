// What was approved for calls to come: each rule with how far it reaches, and the way to take it back.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { type Answer, api } from '../lib/api/client';
import { errors, sentence } from '../lib/errors';
import { useWords, when } from '../lib/i18n';
import { ask, Link, useQueryOf } from '../lib/router';
import { visible } from '../lib/visible';
import { useTask } from '../threads/tasks';
import { Icon } from '../ui/Icon';
import { Notice } from '../ui/Notice';
import { useSaving } from '../ui/useSaving';
import { SettingsPage } from './SettingsPage';
import { words } from './words';

type Grant = NonNullable<Answer<'/approvals', 'get'>>[number];

/** As many as a user can have. */
const most = 1000;

export default function ApprovalsPage(): ReactNode {
  const w = useWords(words);
  const e = useWords(errors);
  const client = useQueryClient();
  const revoked = useQueryOf().has('revoked');
  const { data, error } = useQuery({
    queryKey: ['approvals', revoked],
    queryFn: () => api('get', '/approvals', { query: { revoked, limit: most } }),
  });
  const saving = useSaving();
  const revoke = (g: Grant): void =>
    void saving.save(async () => {
      await api('delete', '/approvals/{approval_id}', { path: { approval_id: g.approval_id } });
      await client.invalidateQueries({ queryKey: ['approvals'] });
    });
  return (
    <SettingsPage title={w.approvals} intro={w.approvalsIntro}>
      <label className="flex items-center gap-2 justify-self-start">
        <input type="checkbox" checked={revoked} onChange={() => ask({ revoked: revoked ? null : '' }, true)} />
        {w.alsoRevoked}
      </label>
      {error && <p className="note-line bad">{sentence(error, e)}</p>}
      {saving.trouble && (
        <p className="note-line bad" role="alert">
          {saving.trouble}
        </p>
      )}
      {data?.length === 0 && <Notice icon="shield" text={w.noApprovals} />}
      {data && data.length > 0 && (
        <ul className="list" aria-label={w.approvals}>
          {data.map((g) => (
            <Line key={g.approval_id} of={g} revoke={() => revoke(g)} busy={saving.busy} />
          ))}
        </ul>
      )}
    </SettingsPage>
  );
}

function Line({ of: g, revoke, busy }: { of: Grant; revoke: () => void; busy: boolean }): ReactNode {
  const w = useWords(words);
  const task = useTask(g.thread_id ?? '');
  return (
    <li className={g.revoked_at ? 'line gone' : 'line'}>
      <Icon name={g.tool === 'bash' ? 'bash' : 'shield'} />
      <span className="min-w-0">
        <b className="mono whole">{visible(g.pattern)}</b>
        <small>
          {[
            g.tool,
            w.given(when(g.created_at)),
            g.used_at ? w.usedTimes(g.uses, when(g.used_at)) : w.neverUsed,
            ...(g.revoked_at ? [w.revokedAt(when(g.revoked_at))] : []),
          ].join(' · ')}
        </small>
      </span>
      <span className="meta">
        {g.thread_id ? (
          <Link className="tag" to={`/c/${g.thread_id}`} title={task?.title ?? ''}>
            {w.inTask}
          </Link>
        ) : (
          <span className="tag">{w.always}</span>
        )}
      </span>
      {g.revoked_at ? (
        <span />
      ) : (
        <button
          type="button"
          className="btn sm"
          disabled={busy}
          aria-label={`${w.revoke}: ${g.pattern}`}
          onClick={revoke}
        >
          {w.revoke}
        </button>
      )}
      <span />
    </li>
  );
}
