// What makes the pages an app: the worker that has a page for when the server is not there, and that there is a new
// version.
import { useSyncExternalStore } from 'react';
import { at, base } from '../lib/base';
import { onNews } from '../lib/news/news';

/** Brings the worker, once the page has what it needs first. */
export function bringWorker(): void {
  if (import.meta.env.DEV || !('serviceWorker' in navigator)) return;
  addEventListener('load', () => void navigator.serviceWorker.register(at('sw.js'), { scope: base }).catch(() => {}), {
    once: true,
  });
}

let ready = false;
const listeners = new Set<() => void>();

/** The script that a page begins with: another version has another name. */
const scriptOf = (html: string): string => /src="[^"]*(assets\/index-[^"]+\.js)"/.exec(html)?.[1] ?? '';

/** Looks whether the server has other pages than this one, whenever it was away. */
export function followVersion(): void {
  let away = false;
  onNews((m) => {
    if (m.event === 'lost') away = true;
    if (m.event !== 'open' || !away) return;
    away = false;
    void fetch(base, { headers: { Accept: 'text/html' } })
      .then((response) => response.text())
      .then((html) => {
        const theirs = scriptOf(html);
        if (theirs === '' || theirs === scriptOf(document.documentElement.outerHTML)) return;
        ready = true;
        for (const tell of listeners) tell();
      })
      .catch(() => {});
  });
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Whether a new version waits to be loaded. */
export const useNewVersion = (): boolean => useSyncExternalStore(subscribe, () => ready);
