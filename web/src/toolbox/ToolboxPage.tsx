// The toolbox: whether it is there, what it has, and its installation once somebody says yes.
import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { errors, sentence } from '../lib/errors';
import { useWords } from '../lib/i18n';
import { SettingsPage, useAdmin } from '../settings/SettingsPage';
import { Icon } from '../ui/Icon';
import { useSaving } from '../ui/useSaving';
import { install, megabytes, type Status, useToolbox } from './data';
import { Progress } from './Progress';
import { toolbox } from './words';

export default function ToolboxPage(): ReactNode {
  const w = useWords(toolbox);
  const e = useWords(errors);
  const { data, error } = useToolbox();
  return (
    <SettingsPage title={w.title} intro={w.intro}>
      {error && <p className="note-line bad">{sentence(error, e)}</p>}
      {data && <State of={data} />}
      {!!data?.packages?.length && (
        <section className="grid gap-3" aria-label={w.packages}>
          <h2 className="sub">{w.packages}</h2>
          <ul className="flex flex-wrap gap-2">
            {data.packages.map((p) => (
              <li key={p} className="tag mono">
                {p}
              </li>
            ))}
          </ul>
        </section>
      )}
    </SettingsPage>
  );
}

function State({ of: s }: { of: Status }): ReactNode {
  const w = useWords(toolbox);
  const client = useQueryClient();
  const admin = useAdmin('config:write');
  const saving = useSaving();
  const n = s.packages?.length ?? 0;
  const text =
    {
      installed: w.installed(n),
      outdated: w.outdated(n),
      missing: w.missing,
      unavailable: w.unavailable(s.why ?? ''),
      installing: w.intro,
    }[s.state] ?? s.state;
  const can = s.state === 'missing' || s.state === 'outdated';
  return (
    <section className="card" aria-label={w.title}>
      {s.state === 'installing' ? (
        <Progress of={s} />
      ) : (
        <p className="flex items-start gap-2">
          <Icon name={s.state === 'installed' ? 'check' : 'info'} />
          <span className="min-w-0 break-words">{text}</span>
        </p>
      )}
      {can && s.why && (
        <p className="note-line bad" role="alert">
          {w.failed(s.why)}
        </p>
      )}
      {saving.trouble && (
        <p className="note-line bad" role="alert">
          {saving.trouble}
        </p>
      )}
      {can && admin && (
        <>
          <p className="soft">{w.offer(megabytes(s.total))}</p>
          <div className="acts">
            <button
              type="button"
              className="btn primary"
              disabled={saving.busy}
              onClick={() => void saving.save(() => install(client))}
            >
              <Icon name="download" />
              {w.install(megabytes(s.total))}
            </button>
          </div>
        </>
      )}
      {can && !admin && <p className="soft">{w.notAdmin}</p>}
    </section>
  );
}
