// Of a long conversation the newest turns are drawn at once, since they are what one looks at, and the rest as soon as
// those stand there.
import { startTransition, useEffect, useState } from 'react';
import type { Turn } from './talk/turns';

/** How many turns fill a screen even where each is a line. */
const atOnce = 10;

/** The turns that are drawn; all of them at once where an older one is looked for. */
export function useDrawn(turns: Turn[], all: boolean): Turn[] {
  const [rest, setRest] = useState(false);
  const few = !rest && !all && turns.length > atOnce;
  useEffect(() => {
    if (few) startTransition(() => setRest(true));
  }, [few]);
  return few ? turns.slice(-atOnce) : turns;
}
