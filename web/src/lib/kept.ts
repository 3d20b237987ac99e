// What is typed into a form and not saved yet: kept in the browser, so that a reload loses nothing. Secrets are never
// kept.
import { useState } from 'react';

const key = (place: string): string => `pudu.form.${place}`;

/** What is kept of a form; only what has the form of its beginning. */
export function keptOf<T extends object>(place: string, start: T): T {
  try {
    const read = JSON.parse(localStorage.getItem(key(place)) ?? '{}') as Partial<Record<keyof T, unknown>>;
    const out = { ...start };
    for (const name of Object.keys(start) as (keyof T)[]) {
      if (typeof read[name] === typeof start[name]) out[name] = read[name] as T[keyof T];
    }
    return out;
  } catch {
    return start;
  }
}

/** Keeps what a form has, but for the names of its secrets; null forgets it. */
export function keep<T extends object>(place: string, values: T | null, secrets: readonly (keyof T)[] = []): void {
  try {
    if (values === null) return localStorage.removeItem(key(place));
    const open = Object.fromEntries(Object.entries(values).filter(([name]) => !secrets.includes(name as keyof T)));
    localStorage.setItem(key(place), JSON.stringify(open));
  } catch {
    // a browser that keeps nothing
  }
}

export interface Kept<T> {
  values: T;
  /** Whether something was typed that is not saved. */
  changed: boolean;
  set: (some: Partial<T>) => void;
  /** Forgets what was typed: it is saved, or given up. */
  forget: () => void;
}

/** The values of a form: those at its beginning, with what was typed over them. */
export function useKept<T extends object>(place: string, start: T, secrets: readonly (keyof T)[] = []): Kept<T> {
  const [typed, type] = useState<T | null>(() => {
    const kept = keptOf(place, start);
    return same(kept, start) ? null : kept;
  });
  return {
    values: typed ?? start,
    changed: typed !== null,
    set: (some) => {
      const next = { ...(typed ?? start), ...some };
      const there = same(next, start) ? null : next;
      type(there);
      keep(place, there, secrets);
    },
    forget: () => {
      type(null);
      keep(place, null);
    },
  };
}

const same = <T extends object>(a: T, b: T): boolean => (Object.keys(a) as (keyof T)[]).every((k) => a[k] === b[k]);
