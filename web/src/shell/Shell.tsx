// The frame of every page: sidebar, the page, and beside it the panel that a page may open.
import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react';
import { useWords } from '../lib/i18n';
import { useKeys } from '../lib/keys';
import { usePath } from '../lib/router';
import { change, settings, useSetting } from '../lib/settings';
import { useCountInTitle } from '../outside/title';
import { TaskKeys } from '../threads/TaskKeys';
import { useTaskNews, useTasks } from '../threads/tasks';
import { Icon } from '../ui/Icon';
import { Banner } from './Banner';
import { Sidebar } from './Sidebar';
import { usePageKeys } from './usePageKeys';
import { shell } from './words';

const Grip = lazy(() => import('./Grip'));

interface ShellProps {
  /** What stands in the header, beginning with the h1. */
  header?: ReactNode;
  children: ReactNode;
  panel?: ReactNode;
  /** What stands in the sidebar's place: the way through settings. */
  side?: (hide: () => void) => ReactNode;
  /** The panel's width: that of a run, or that of files. */
  kind?: 'run' | 'files' | 'inspect';
  /** The page uses the width: the sidebar waits behind its button. */
  wide?: boolean;
}

/** The width that was chosen for panels of a kind, as a style. */
function useWidth(kind: string): Record<string, string> | undefined {
  const width = useSetting('widths')[kind];
  return width ? { '--panel-w': `clamp(320px, ${width}px, max(320px, 100vw - 700px))` } : undefined;
}

const narrow = (): boolean => matchMedia('(max-width: 899px)').matches;

export function Shell({ header, children, panel, side, kind = 'run', wide = false }: ShellProps): ReactNode {
  const w = useWords(shell);
  const hidden = useSetting('sideHidden');
  const [drawer, setDrawer] = useState(false);
  const path = usePath();
  const width = useWidth(kind);
  useTaskNews();
  useCountInTitle(useTasks().data?.counts.waiting ?? 0);
  useEffect(() => setDrawer(false), [path]);
  const turn = (): void => {
    if (wide || narrow()) setDrawer(!drawer);
    else change({ sideHidden: !settings().sideHidden });
  };
  useKeys({ sidebar: turn });
  usePageKeys(drawer, () => setDrawer(false));
  const classes = [
    'app',
    wide && 'wide',
    hidden && 'no-side',
    drawer && 'drawer',
    panel && 'with-panel panel-first panel-full',
    panel && kind,
  ];
  return (
    <div className={classes.filter(Boolean).join(' ')} style={panel && kind !== 'inspect' ? width : undefined}>
      <a className="skip" href="#content">
        {w.skip}
      </a>
      {side ? side(turn) : <Sidebar hide={turn} />}
      {drawer && <button type="button" className="scrim" aria-label={w.hideSide} onClick={() => setDrawer(false)} />}
      <main className="main" id="content" tabIndex={-1}>
        <header className={header ? 'top' : 'top bare'}>
          <button type="button" className="btn ghost icon side-button" aria-label={w.showSide} onClick={turn}>
            <Icon name="menu" />
          </button>
          {header ?? <div className="title" />}
          <Banner />
        </header>
        {children}
        {panel && kind !== 'inspect' && (
          <Suspense>
            <Grip kind={kind} />
          </Suspense>
        )}
      </main>
      {panel}
      <TaskKeys path={path} />
    </div>
  );
}
