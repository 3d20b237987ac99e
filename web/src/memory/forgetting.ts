// Forgetting a fact. On the server that is for good, so the server is told when nobody can take it back any more: until then the fact is
// only not shown. Leaving the page tells it at once.
import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { api, fill, send } from '../lib/api/client';
import { wordsNow } from '../lib/i18n';
import { failed } from '../shell/Failure';
import { toast } from '../ui/Toasts';
import { again, type Fact } from './data';
import { memory } from './words';

let going: ReadonlySet<string> = new Set();
const listeners = new Set<() => void>();

function set(change: (ids: Set<string>) => void): void {
  const ids = new Set(going);
  change(ids);
  going = ids;
  for (const tell of listeners) tell();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The facts that are being forgotten. */
export const useGoing = (): ReadonlySet<string> => useSyncExternalStore(subscribe, () => going);

const path = '/memory/facts/{fact_id}';

function forget(client: QueryClient, fact: Fact): void {
  const id = fact.fact_id;
  set((ids) => ids.add(id));
  const back = (): void => set((ids) => ids.delete(id));
  const leaving = (): void => void send(fill(path, { fact_id: id }), { method: 'DELETE', keepalive: true }).catch(() => {});
  addEventListener('pagehide', leaving);
  const w = wordsNow(memory);
  toast({
    text: w.forgotten,
    act: { label: w.takeBack, go: back },
    gone: async (acted) => {
      removeEventListener('pagehide', leaving);
      if (acted) return;
      try {
        await api('delete', path, { path: { fact_id: id } });
        await again(client);
      } catch (error) {
        failed(error);
      }
      back();
    },
  });
}

/** Forgets a fact, with a way back for as long as the line at the foot stands. */
export function useForget(): (fact: Fact) => void {
  const client = useQueryClient();
  return (fact) => forget(client, fact);
}
