// What a person has chosen about the look of the pages: kept in the browser, the same in all its tabs, and in force at
// once.
import { useSyncExternalStore } from 'react';

export type Language = 'en' | 'zh';
export type Theme = 'system' | 'light' | 'dark';

export interface Settings {
  language: Language;
  theme: Theme;
  /** Whether single letters are keys where no field has the focus. */
  letters: boolean;
  /** Single characters that are no keys. */
  keysOff: string[];
  /** Whether the sidebar is hidden, and the widths of panels by their kinds. */
  sideHidden: boolean;
  widths: Record<string, number>;
  /** How many columns diffs have, where there is room. */
  columns: 1 | 2;
}

const place = 'pudu.settings';
const listeners = new Set<() => void>();
let now = read();

function spoken(): Language {
  return typeof navigator !== 'undefined' && navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en';
}

function read(): Settings {
  const defaults: Settings = {
    language: spoken(),
    theme: 'system',
    letters: true,
    keysOff: [],
    sideHidden: false,
    widths: {},
    columns: 1,
  };
  try {
    return { ...defaults, ...(JSON.parse(localStorage.getItem(place) ?? '{}') as Partial<Settings>) };
  } catch {
    return defaults;
  }
}

function show(): void {
  const root = document.documentElement;
  root.lang = now.language === 'zh' ? 'zh-CN' : 'en';
  if (now.theme === 'system') delete root.dataset['theme'];
  else root.dataset['theme'] = now.theme;
  for (const tell of listeners) tell();
}

/** Changes settings, here and in all other tabs. */
export function change(some: Partial<Settings>): void {
  now = { ...now, ...some };
  try {
    localStorage.setItem(place, JSON.stringify(now));
  } catch {
    // a browser that keeps nothing still changes this page
  }
  show();
}

/** Begins to follow what other tabs choose. */
export function followSettings(): void {
  addEventListener('storage', (event) => {
    if (event.key !== place) return;
    now = read();
    show();
  });
  show();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The settings as they are. */
export const settings = (): Settings => now;

/** One of the settings; a component that uses it is drawn anew when it changes. */
export function useSetting<K extends keyof Settings>(name: K): Settings[K] {
  const value = (): Settings[K] => now[name];
  return useSyncExternalStore(subscribe, value, value);
}
