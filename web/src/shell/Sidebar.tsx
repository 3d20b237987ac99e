// The sidebar: a new task, what needs you, the tasks by day, and at its foot the way to settings.
import type { ReactNode } from 'react';
import { useWords } from '../lib/i18n';
import { keyOf } from '../lib/keys';
import { Link, usePath } from '../lib/router';
import { change, settings } from '../lib/settings';
import { openPalette } from '../threads/opening';
import { useFolders } from '../threads/folders';
import { byDay, type Day, type Task, useTasks } from '../threads/tasks';
import { TaskRow } from '../threads/TaskRow';
import { threads } from '../threads/words';
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
        <button type="button" className="row" onClick={openPalette}>
          <Icon name="search" />
          <span>{w.search}</span>
          <span className="at">
            <kbd>{keyOf('palette')}</kbd>
          </span>
        </button>
      </div>
      <Days />
      <nav className="side-nav" aria-label={w.library}>
        {links.map((l) => (
          <Link
            key={l.to}
            className="row"
            to={l.to}
            {...(path.startsWith(l.below) ? { 'aria-current': 'page' as const } : {})}
          >
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
  const days = byDay(data?.threads ?? []);
  const above = days.filter(([day]) => day === 'waiting' || day === 'pinned');
  const section = ([day, tasks]: [Day, Task[]]): ReactNode => (
    <section key={day} aria-label={w[day]}>
      <h3>{w[day]}</h3>
      {tasks.map((t) => (
        <TaskRow key={t.thread_id} task={t} here={path === `/c/${t.thread_id}`} />
      ))}
    </section>
  );
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
      {above.map(section)}
      <Folders path={path} />
      {days.filter((d) => !above.includes(d)).map(section)}
      {data && (
        <Link className="row" to="/c" {...(path === '/c' ? { 'aria-current': 'page' as const } : {})}>
          <Icon name="queue" />
          <span>{w.allTasks}</span>
        </Link>
      )}
    </nav>
  );
}

function Folders({ path }: { path: string }): ReactNode {
  const t = useWords(threads);
  const { data } = useFolders();
  if (!data?.length) return null;
  return (
    <section aria-label={t.folders}>
      <h3>{t.folders}</h3>
      {data.map((f) => (
        <Link
          key={f.folder_id}
          className="row"
          to={`/f/${f.folder_id}`}
          {...(path === `/f/${f.folder_id}` ? { 'aria-current': 'page' as const } : {})}
        >
          <Icon name="folder" />
          <span className="cut">{f.name}</span>
          {f.thread_count > 0 && <span className="at">{f.thread_count}</span>}
        </Link>
      ))}
    </section>
  );
}
