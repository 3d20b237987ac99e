// How a task is worked on: what was chosen last, for each task its own.
import { useState } from 'react';
import type { Options } from '../talk/requests';

const key = (place: string): string => `pudu.options.${place || 'new'}`;

function read(place: string): Options {
  for (const from of [place, '']) {
    try {
      const kept = localStorage.getItem(key(from));
      if (kept) return JSON.parse(kept) as Options;
    } catch {
      // a browser that keeps nothing
    }
  }
  return {};
}

/** Keeps the options of a place. */
export function keepOptions(place: string, options: Options): void {
  try {
    localStorage.setItem(key(place), JSON.stringify(options));
  } catch {
    // a browser that keeps nothing
  }
}

/** The options of a place, and how they are changed. */
export function useOptions(place: string): [Options, (some: Options) => void] {
  const [options, set] = useState(() => read(place));
  const change = (some: Options): void => {
    const next = { ...options, ...some };
    set(next);
    keepOptions(place, next);
  };
  return [options, change];
}
