// Sending a form: once at a time, with what went wrong at its fields or as a sentence.
import { useRef, useState } from 'react';
import { Trouble } from '../lib/api/client';
import { errors, sentence } from '../lib/errors';
import { useWords } from '../lib/i18n';

interface Saving {
  busy: boolean;
  /** What is wrong with the fields, by their names. */
  faults: Record<string, string>;
  /** What went wrong with all of it; empty if nothing did. */
  trouble: string;
  /** What that is, as the server said it. */
  error: unknown;
  /** Does something, and reports whether it worked. */
  save: (work: () => Promise<unknown>) => Promise<boolean>;
  /** Forgets what was wrong. */
  clear: () => void;
}

export function useSaving(fields: readonly string[] = []): Saving {
  const e = useWords(errors);
  const [state, set] = useState<{ busy: boolean; error?: unknown }>({ busy: false });
  const working = useRef(false);
  const all = state.error instanceof Trouble ? state.error.faults : {};
  const faults = Object.fromEntries(Object.entries(all).filter(([name]) => fields.includes(name)));
  const rest =
    state.error !== undefined &&
    (Object.keys(faults).length === 0 || Object.keys(all).length > Object.keys(faults).length);
  return {
    busy: state.busy,
    faults,
    trouble: rest ? sentence(state.error, e) : '',
    error: state.error,
    clear: () => set({ busy: working.current }),
    save: async (work) => {
      if (working.current) return false;
      working.current = true;
      set({ busy: true });
      try {
        await work();
        set({ busy: false });
        return true;
      } catch (error) {
        set({ busy: false, error });
        return false;
      } finally {
        working.current = false;
      }
    },
  };
}
