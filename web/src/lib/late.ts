// Parts of the program that come when they are needed. Who asks again has them at once.
import { useEffect, useReducer } from 'react';

/** A part that is not loaded at first. */
export interface Late<T> {
  /** The part, once it is there. */
  now: T | undefined;
  /** Loads it; one that cannot be had is asked for again the next time. */
  load: () => Promise<T | undefined>;
}

export function late<T>(bring: () => Promise<T>): Late<T> {
  let coming: Promise<T | undefined> | undefined;
  const it: Late<T> = {
    now: undefined,
    load: () =>
      (coming ??= bring().then(
        (part) => (it.now = part),
        () => (coming = undefined),
      )),
  };
  return it;
}

/** The part for a component, which is drawn anew when it comes; without need it is not asked for. */
export function useLate<T>(part: Late<T>, needed = true): T | undefined {
  const [, again] = useReducer((n: number) => n + 1, 0);
  const missing = needed && part.now === undefined;
  useEffect(() => {
    let there = true;
    if (missing) void part.load().then((it) => there && it && again());
    return () => {
      there = false;
    };
  }, [missing, part]);
  return part.now;
}

/** Calls something once the page has loaded and has nothing else to do. */
export function whenIdle(act: () => void): void {
  // Safari has no such callback: there a moment has to do.
  const soon = (): void =>
    void (typeof requestIdleCallback === 'function' ? requestIdleCallback(act) : setTimeout(act, 500));
  if (document.readyState === 'complete') soon();
  else addEventListener('load', soon, { once: true });
}
