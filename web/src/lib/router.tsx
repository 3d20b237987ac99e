// The address is where a person is: the page, its panel and its dialog, so that Back closes them. Paths here begin at
// the server's, wherever that lies.
import { type AnchorHTMLAttributes, type ReactNode, useMemo, useSyncExternalStore } from 'react';
import { base } from './base';

const listeners = new Set<() => void>();
const tell = (): void => {
  for (const listener of listeners) listener();
};

/** Begins to follow Back and Forward. */
export function followAddress(): void {
  addEventListener('popstate', tell);
  addEventListener('hashchange', tell);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The path of the page as it is now. */
export const pathNow = (): string => `/${location.pathname.slice(base.length)}`;

/** Goes to a path of the pages; replace leaves no step back. */
export function go(to: string, replace = false): void {
  const url = base + to.replace(/^\//, '');
  if (url === location.pathname + location.search + location.hash) return;
  if (replace) history.replaceState(null, '', url);
  else history.pushState(null, '', url);
  tell();
}

/** Changes parameters of the address; null takes one away. */
export function ask(changes: Record<string, string | null>, replace = false): void {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  go(pathNow() + (text && `?${text}`), replace);
}

/** The path of the page. */
export const usePath = (): string => useSyncExternalStore(subscribe, pathNow);

/** The parameters of the address. */
export function useQueryOf(): URLSearchParams {
  const text = useSyncExternalStore(subscribe, () => location.search);
  return useMemo(() => new URLSearchParams(text), [text]);
}

/** The fragment of the address, with its #. */
export const useHash = (): string => useSyncExternalStore(subscribe, () => location.hash);

/** The values of a path's places if it has the form, such as /c/:thread or /library/agents/:name?. */
export function match(form: string, path: string): Record<string, string> | null {
  const wanted = form.split('/').filter(Boolean);
  const given = path.split('/').filter(Boolean);
  if (given.length > wanted.length) return null;
  const out: Record<string, string> = {};
  for (const [i, part] of wanted.entries()) {
    const value = given[i];
    if (part.startsWith(':')) {
      if (value !== undefined) out[part.slice(1).replace('?', '')] = decoded(value);
      else if (!part.endsWith('?')) return null;
    } else if (part !== value) return null;
  }
  return out;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

interface LinkProps extends AnchorHTMLAttributes<HTMLAnchorElement> {
  to: string;
  children: ReactNode;
}

/** A link to a page, which loads nothing anew; with a key of the browser's held it does what links do. */
export function Link({ to, onClick, ...rest }: LinkProps): ReactNode {
  return (
    <a
      href={base + to.replace(/^\//, '')}
      onClick={(event) => {
        onClick?.(event);
        const own = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || event.button !== 0;
        if (own || event.defaultPrevented) return;
        event.preventDefault();
        go(to);
      }}
      {...rest}
    />
  );
}
