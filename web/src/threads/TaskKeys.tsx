// What every page has of tasks: the palette, the keys on the line of a task, and news.
import { lazy, type ReactNode, Suspense, useEffect } from 'react';
import { useKeys } from '../lib/keys';
import { go, match, useQueryOf } from '../lib/router';
import { useActs } from './acts';
import { openPalette } from './opening';
import { focused, rename } from './renaming';

const bring = () => import('./Palette');
const Palette = lazy(bring);

export function TaskKeys({ path }: { path: string }): ReactNode {
  const acts = useActs();
  const open = useQueryOf().get('find') !== null;
  // It is there before somebody asks for it, so that what is typed at once goes into it.
  useEffect(() => {
    const timer = setTimeout(() => void bring().catch(() => {}), 1000);
    return () => clearTimeout(timer);
  }, []);
  useKeys({
    palette: openPalette,
    newTask: () => {
      go('/');
      document.querySelector<HTMLElement>('[data-composer]')?.focus();
    },
    rename: () => {
      const row = focused();
      const here = match('/c/:thread', path)?.['thread'];
      if (row) rename(row.thread, row.place);
      else if (here) rename(here, 'head');
      return !!(row ?? here);
    },
    archive: () => {
      const row = focused();
      if (!row) return false;
      return void acts.archive({ thread_id: row.thread, title: row.title, metadata: null, archived: row.archived });
    },
  });
  return <Suspense>{open && <Palette />}</Suspense>;
}
