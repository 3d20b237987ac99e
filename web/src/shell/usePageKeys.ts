// The keys that work on every page: to write, to the next thing that needs somebody, to the list of all keys, and away
// from what is open.
import { go, ask, usePath, useQueryOf } from '../lib/router';
import { useKeys } from '../lib/keys';
import { useTasks } from '../threads/tasks';

/** Gives an element the focus, and shows it. */
function show(it: HTMLElement | null | undefined): boolean {
  if (!it) return false;
  it.focus();
  it.scrollIntoView({ block: 'nearest' });
  return true;
}

export function usePageKeys(drawer: boolean, closeDrawer: () => void): void {
  const path = usePath();
  const panel = useQueryOf().has('panel');
  const { data } = useTasks();
  useKeys({
    composer: () => {
      const field = document.querySelector<HTMLElement>('[data-composer]');
      if (!show(field)) go('/');
    },
    help: () => go('/settings/general#keys'),
    needsYou: () => {
      // What is asked on this page comes first, unless that is where one is.
      const form = document.querySelector<HTMLElement>('form.asking');
      if (form && !form.contains(document.activeElement))
        return show(form.querySelector<HTMLElement>('input, select, textarea, footer button'));
      const waiting = (data?.threads ?? []).filter((t) => t.state === 'waiting');
      const here = waiting.findIndex((t) => path === `/c/${t.thread_id}`);
      const next = waiting[(here + 1) % waiting.length];
      if (!next || (here >= 0 && waiting.length === 1)) return false;
      go(`/c/${next.thread_id}`);
      return true;
    },
    close: (e) => {
      if (drawer) return closeDrawer();
      // What is written in a field is not thrown away by a key that closes something else.
      if (!panel || (e.target instanceof Element && e.target.closest('textarea, input, [role=menu]'))) return false;
      ask({ panel: null, file: null, run: null });
      return true;
    },
  });
}
