// What was done, with a way back, or what could not be done: one line at the foot of the page, ten seconds long, as
// long as neither the pointer nor the focus is on it. It is never the only place of a fact.
import { type ReactNode, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { useWords } from '../lib/i18n';
import { ui } from './words';

interface Toast {
  text: string;
  /** What a button of it does, such as to undo. */
  act?: { label: string; go: () => void };
  /** Something went wrong: it is read out at once. */
  bad?: boolean;
  /** Called when it goes, with whether the button was pressed: what can be undone until then is done then. */
  gone?: (acted: boolean) => void;
}

/** How long it stands, in milliseconds. */
const stands = 10_000;

let now: Toast | null = null;
const listeners = new Set<() => void>();

function set(next: Toast | null, acted = false): void {
  const before = now;
  now = next;
  for (const tell of listeners) tell();
  before?.gone?.(acted);
}

/** Shows a line, in the place of the one that is there. */
export const toast = (it: Toast): void => set(it);

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The place of the lines; once in the page, so that a reader of the screen knows it before there is one. */
export function Toasts(): ReactNode {
  const w = useWords(ui);
  const it = useSyncExternalStore(subscribe, () => now);
  const [held, setHeld] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => setHeld(!!box.current?.matches(':hover, :focus-within')), [it]);
  useEffect(() => {
    if (!it || held) return;
    const timer = setTimeout(() => set(null), stands);
    return () => clearTimeout(timer);
  }, [it, held]);
  return (
    <div role={it?.bad ? 'alert' : 'status'} className="toasts">
      {it && (
        // biome-ignore lint/a11y/noStaticElementInteractions: it only waits while somebody is in it
        <div
          ref={box}
          className="toast"
          onPointerEnter={() => setHeld(true)}
          onPointerLeave={() => setHeld(!!box.current?.matches(':focus-within'))}
          onFocus={() => setHeld(true)}
          onBlur={() => setHeld(!!box.current?.matches(':hover'))}
          onKeyDown={(e) => e.key === 'Escape' && set(null)}
        >
          <span>{it.text}</span>
          {it.act && (
            <button
              type="button"
              onClick={() => {
                set(null, true);
                it.act?.go();
              }}
            >
              {it.act.label}
            </button>
          )}
          {(it.bad || !it.act) && (
            <button type="button" onClick={() => set(null)}>
              {w.close}
            </button>
          )}
        </div>
      )}
    </div>
  );
}
