// The frame of the pages of settings: their list in the place of the sidebar, and a head with what the page is for.
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect } from 'react';
import { api } from '../lib/api/client';
import { useWords } from '../lib/i18n';
import { Link, usePath } from '../lib/router';
import { turnTheme } from '../shell/Sidebar';
import { Shell } from '../shell/Shell';
import { shell } from '../shell/words';
import { Icon, type IconName } from '../ui/Icon';
import { words } from './words';

/** Who is signed in. */
export const useSession = () => useQuery({ queryKey: ['session'], queryFn: () => api('get', '/session') });

/** Whether who is signed in may do what needs a scope of admins. */
export function useAdmin(scope: string): boolean {
  const { data } = useSession();
  return data?.role === 'admin' && (!data.scopes || data.scopes.includes(scope));
}

interface SettingsPageProps {
  title: string;
  intro: string;
  /** The one button of the head. */
  act?: ReactNode;
  children: ReactNode;
}

export function SettingsPage({ title, intro, act, children }: SettingsPageProps): ReactNode {
  const w = useWords(words);
  useEffect(() => {
    document.title = `${title} · ${w.title} · Pudu`;
  }, [title, w]);
  return (
    <Shell header={<div className="title">{w.title}</div>} side={(hide) => <Side hide={hide} />}>
      <div className="scroll">
        <div className="page">
          <div className="page-head">
            <div className="grow">
              <h1>{title}</h1>
              <p>{intro}</p>
            </div>
            {act}
          </div>
          {children}
        </div>
      </div>
    </Shell>
  );
}

function Side({ hide }: { hide: () => void }): ReactNode {
  const w = useWords(words);
  const s = useWords(shell);
  const path = usePath();
  const admin = useAdmin('config:read');
  const pages: [string, IconName, string][] = [
    ['/settings/general', 'settings', w.general],
    ...(admin ? ([['/settings/models', 'spark', w.models]] as [string, IconName, string][]) : []),
    ['/settings/approvals', 'shield', w.approvals],
    ['/settings/toolbox', 'chart', w.toolbox],
  ];
  return (
    <aside className="side" aria-label={w.title}>
      <div className="side-top way-back">
        <Link className="btn ghost sm" to="/">
          <Icon name="left" />
          {w.title}
        </Link>
        <span className="grow" />
        <button type="button" className="btn ghost icon sm" aria-label={s.theme} onClick={turnTheme}>
          <Icon name="theme" />
        </button>
        <button type="button" className="btn ghost icon sm" aria-label={s.hideSide} onClick={hide}>
          <Icon name="sidebar" />
        </button>
      </div>
      <nav className="side-list" aria-label={w.title}>
        {pages.map(([to, icon, name]) => (
          <Link
            key={to}
            className="row"
            to={to}
            {...(path === to || (to.endsWith('general') && path === '/settings')
              ? { 'aria-current': 'page' as const }
              : {})}
          >
            <Icon name={icon} />
            <span>{name}</span>
          </Link>
        ))}
      </nav>
    </aside>
  );
}
