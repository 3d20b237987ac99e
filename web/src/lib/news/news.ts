// News of the server for this tab.
import { useEffect, useRef, useSyncExternalStore } from 'react';
import { at } from '../base';
import { listen, type Message } from './source';

export type { Message } from './source';

const listeners = new Set<(m: Message) => void>();
let again: (() => void) | null = null;
let connected = true;

function heard(m: Message): void {
  if (m.event === 'open') connected = true;
  if (m.event === 'lost') connected = false;
  for (const listener of [...listeners]) listener(m);
}

/** Begins to listen; a second call does nothing. */
export function followNews(): void {
  if (again) return;
  const url = new URL(at('events'), location.href).href;
  if (typeof SharedWorker === 'undefined') {
    again = listen(url, heard).again;
    return;
  }
  const worker = new SharedWorker(new URL('./worker.ts', import.meta.url), { type: 'module', name: url });
  let joined = false;
  worker.port.onmessage = (event) => {
    const m = event.data as Message;
    heard(m);
    // The first message tells how the worker stands. A stream that is open already has told others what this page may
    // have read too early.
    if (!joined && m.event === 'open') heard({ event: 'reset', data: null });
    joined = true;
  };
  again = () => worker.port.postMessage('again');
  addEventListener('pagehide', () => worker.port.postMessage('bye'));
  addEventListener('pageshow', (event) => {
    if (event.persisted) location.reload(); // its port was taken away while the page was kept
  });
}

/** Asks the server anew where it had refused: somebody has signed in. */
export const listenAgain = (): void => again?.();

/** Calls a listener for each message; the function that is returned ends that. */
export function onNews(listener: (m: Message) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Calls a listener for each message while the component is there. */
export function useNews(listener: (m: Message) => void): void {
  const now = useRef(listener);
  useEffect(() => {
    now.current = listener;
  });
  useEffect(() => onNews((m) => now.current(m)), []);
}

/** Whether the server is there, as far as the stream of news knows. */
export const useConnected = (): boolean => useSyncExternalStore(onNews, () => connected);
