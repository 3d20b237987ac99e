// How many tasks wait for the user, in the title of the tab, whatever page gives it the rest.
import { useEffect } from 'react';

const form = /^\(\d+\) /;

export function useCountInTitle(count: number): void {
  useEffect(() => {
    const set = (): void => {
      const wanted = (count > 0 ? `(${count}) ` : '') + document.title.replace(form, '');
      if (document.title !== wanted) document.title = wanted;
    };
    set();
    const title = document.querySelector('title');
    if (!title) return;
    const watch = new MutationObserver(set);
    watch.observe(title, { childList: true, characterData: true, subtree: true });
    return () => watch.disconnect();
  }, [count]);
}
