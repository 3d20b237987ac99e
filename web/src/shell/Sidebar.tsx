// The sidebar: a new task, what needs you, the tasks by day, and at its foot the way to settings.
import type { ReactNode } from 'react';
import { useWords } from '../lib/i18n';
import { Link, usePath } from '../lib/router';
import { change, settings } from '../lib/settings';
import { byDay, useTasks } from '../threads/tasks';
import { TaskRow } from '../threads/TaskRow';
import { Icon } from '../ui/Icon';
import { Mark } from '../ui/Mark';
import { links } from './links';
import { shell } from './words';

/** Turns light to dark and dark to light. */
export function turnTheme(): void {
  const { theme } = settings();
  const dark = theme === 'system' ? matchMedia('(prefers-color-scheme: dark)').matches : theme === 'dark';
  change({ theme: dark ? 'light' : 'dark' });
}

export function Sidebar({ hide }: { hide: () => void }): ReactNode {
  const w = useWords(shell);
  const path = usePath();
  return (
    <aside className="side" aria-label={w.tasks}>
      <div className="side-top">
        <Mark />
        <Link className="name grow" to="/">
          Pudu
        </Link>
        <button type="button" className="btn ghost icon sm" aria-label={w.theme} onClick={turnTheme}>
          <Icon name="theme" />
        </button>
        <button type="button" className="btn ghost icon sm" aria-label={w.hideSide} onClick={hide}>
          <Icon name="sidebar" />
        </button>
      </div>
      <div className="side-do">
        <Link className="row" to="/" {...(path === '/' ? { 'aria-current': 'page' as const } : {})}>
          <Icon name="plus" />
          <span>{w.newTask}</span>
        </Link>
      </div>
      <Days />
      <nav className="side-nav" aria-label={w.library}>
        {links.map((l) => (
          <Link key={l.to} className="row" to={l.to} {...(path.startsWith(l.below) ? { 'aria-current': 'page' as const } : {})}>
            <Icon name={l.icon} />
            <span>{w[l.word]}</span>
          </Link>
        ))}
      </nav>
    </aside>
  );
}

function Days(): ReactNode {
  const w = useWords(shell);
  const { data, isError, refetch } = useTasks();
  const path = usePath();
  return (
    <nav className="side-list" aria-label={w.allTasks}>
      {data?.threads.length === 0 && <p className="soft px-2 py-1">{w.nothingYet}</p>}
      {isError && (
        <p className="soft px-2 py-1">
          {w.noTasks}{' '}
          <button type="button" className="underline" onClick={() => void refetch()}>
            {w.reload}
          </button>
        </p>
      )}
      {byDay(data?.threads ?? []).map(([day, tasks]) => (
        <section key={day} aria-label={w[day]}>
          <h3>{w[day]}</h3>
          {tasks.map((t) => (
            <TaskRow key={t.thread_id} task={t} here={path === `/c/${t.thread_id}`} />
          ))}
        </section>
      ))}
    </nav>
  );
}
