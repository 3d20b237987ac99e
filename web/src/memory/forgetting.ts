// Forgetting a fact. On the server that is for good, so the server is told when nobody can take it back any more: until
// then the fact is only not shown. Leaving the page tells it at once; a browser may lose what a page says as it goes,
// so the tab says it once more when it is back.
import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';
import { fill, send, Trouble } from '../lib/api/client';
import { wordsNow } from '../lib/i18n';
import { failed } from '../shell/Failure';
import { toast } from '../ui/Toasts';
import { again, type Fact } from './data';
import { memory } from './words';

const kept = 'pudu.forgetting';

function read(): string[] {
  try {
    const ids: unknown = JSON.parse(sessionStorage.getItem(kept) ?? '[]');
    return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : [];
  } catch {
    return [];
  }
}

const before = read();
let going: ReadonlySet<string> = new Set(before);
const listeners = new Set<() => void>();

function set(change: (ids: Set<string>) => void): void {
  const ids = new Set(going);
  change(ids);
  going = ids;
  try {
    if (ids.size > 0) sessionStorage.setItem(kept, JSON.stringify([...ids]));
    else sessionStorage.removeItem(kept);
  } catch {
    // Without a place for it, leaving the page is the only moment.
  }
  for (const tell of listeners) tell();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The facts that are being forgotten. */
export const useGoing = (): ReadonlySet<string> => useSyncExternalStore(subscribe, () => going);

/** Tells the server, which goes on hearing it when the page is left. */
async function told(id: string): Promise<void> {
  try {
    await send(fill('/memory/facts/{fact_id}', { fact_id: id }), { method: 'DELETE', keepalive: true });
  } catch (error) {
    if (!(error instanceof Trouble && error.status === 404)) throw error; // else it is forgotten already
  }
}

function forget(client: QueryClient, fact: Fact): void {
  const id = fact.fact_id;
  set((ids) => ids.add(id));
  const back = (): void => set((ids) => ids.delete(id));
  const leaving = (): void => void told(id).catch(() => {});
  addEventListener('pagehide', leaving);
  const w = wordsNow(memory);
  toast({
    text: w.forgotten,
    act: { label: w.takeBack, go: back },
    gone: async (acted) => {
      removeEventListener('pagehide', leaving);
      if (acted) return;
      try {
        await told(id);
        await again(client);
      } catch (error) {
        failed(error);
      }
      back();
    },
  });
}

/** Forgets what the tab was forgetting when the page was left, once more. */
export function useForgottenBefore(): void {
  const client = useQueryClient();
  useEffect(() => {
    for (const id of before.splice(0)) {
      void told(id)
        .then(() => again(client), failed)
        .then(() => set((ids) => ids.delete(id)));
    }
  }, [client]);
}

/** Forgets a fact, with a way back for as long as the line at the foot stands. */
export function useForget(): (fact: Fact) => void {
  const client = useQueryClient();
  return (fact) => forget(client, fact);
}
