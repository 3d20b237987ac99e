// Who is signed in: the browsers of the user, and the way out. Where no token is asked for nobody signs in, and there
// is none.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { type Answer, api } from '../lib/api/client';
import { at } from '../lib/base';
import { errors, sentence } from '../lib/errors';
import { day, useWords } from '../lib/i18n';
import { Icon } from '../ui/Icon';
import { useSaving } from '../ui/useSaving';
import { deviceOf } from './device';
import { useSession } from './SettingsPage';
import { words } from './words';

type Session = NonNullable<Answer<'/sessions', 'get'>>[number];

/** Leaves to the form of signing in. The page is loaded anew: nothing of the user stays in it. */
const leave = (): void => location.assign(at('sign-in'));

export function Sessions(): ReactNode {
  const { data } = useSession();
  return data?.token_required ? <Signed via={data.via} role={data.role} inSession={data.ends_at !== null} /> : null;
}

function Signed({ via, role, inSession }: { via: string; role: string; inSession: boolean }): ReactNode {
  const w = useWords(words);
  const e = useWords(errors);
  const client = useQueryClient();
  const { data, error } = useQuery({ queryKey: ['sessions'], queryFn: () => api('get', '/sessions') });
  const saving = useSaving();
  const end = (s: Session): void =>
    void saving.save(async () => {
      await api('delete', '/sessions/{session_id}', { path: { session_id: s.session_id } });
      if (s.current) return leave();
      await client.invalidateQueries({ queryKey: ['sessions'] });
    });
  return (
    <section className="grid gap-3" aria-labelledby="signed">
      <div className="page-head">
        <div className="grow">
          <h2 className="sub" id="signed">
            {w.signed}
          </h2>
          <p>{w.signedIntro(via, role === 'admin' ? w.roleAdmin : role === 'user' ? w.roleUser : w.roleViewer)}</p>
        </div>
        {inSession && (
          <button
            type="button"
            className="btn"
            disabled={saving.busy}
            onClick={() => void saving.save(() => api('delete', '/session').then(leave))}
          >
            <Icon name="out" />
            {w.signOut}
          </button>
        )}
      </div>
      {error && <p className="note-line bad">{sentence(error, e)}</p>}
      {saving.trouble && (
        <p className="note-line bad" role="alert">
          {saving.trouble}
        </p>
      )}
      {data && data.length > 0 && (
        <ul className="list" aria-label={w.signed}>
          {data.map((s) => (
            <Line key={s.session_id} of={s} end={() => end(s)} busy={saving.busy} />
          ))}
        </ul>
      )}
    </section>
  );
}

function Line({ of: s, end, busy }: { of: Session; end: () => void; busy: boolean }): ReactNode {
  const w = useWords(words);
  const device = deviceOf(s.user_agent) || w.unknownDevice;
  return (
    <li className="line">
      <Icon name="browser" />
      <span className="min-w-0">
        <b>
          {device} {s.current && <span className="tag">{w.thisOne}</span>}
        </b>
        <small title={s.user_agent}>{w.used(day(s.last_used_at), day(s.created_at), s.via)}</small>
      </span>
      <span />
      <button type="button" className="btn sm" disabled={busy} aria-label={`${w.end}: ${device}`} onClick={end}>
        {w.end}
      </button>
      <span />
    </li>
  );
}
