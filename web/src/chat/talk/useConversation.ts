// The conversation of a thread for a page. It outlives the change of the address from the start page to the thread's
// own.
import { useEffect, useSyncExternalStore } from 'react';
import { Trouble } from '../../lib/api/client';
import { onNews, useNews } from '../../lib/news/news';
import { Conversation } from './conversation';
import { passes, sendRest } from './outbox';
import type { View } from './view';

const open = new Map<string, { it: Conversation; users: number; loaded: Promise<void> }>();

/** The conversation of a thread; one that was begun here needs no loading. */
export function conversationOf(thread: string, isNew = false): Conversation {
  let held = open.get(thread);
  if (!held) {
    const it = new Conversation(thread, isNew);
    held = { it, users: 0, loaded: isNew ? Promise.resolve() : it.load() };
    open.set(thread, held);
  }
  return held.it;
}

/** The conversation, which is kept as long as a page shows it. */
export function useConversation(thread: string): [Conversation, View] {
  const it = conversationOf(thread);
  useEffect(() => {
    const held = open.get(thread);
    if (held) held.users++;
    return () => {
      if (!held) return;
      held.users--;
      // React draws a page twice while it is made: only what nobody uses a moment later is closed.
      setTimeout(() => {
        if (held.users > 0 || open.get(thread) !== held) return;
        open.delete(thread);
        held.it.close();
      }, 100);
    };
  }, [thread]);
  useNews((m) => {
    // What is told while it is loaded may be newer than what is loaded.
    const then = (act: () => Promise<void>): void => void open.get(thread)?.loaded.then(act);
    if (m.event === 'thread' && (m.data as { thread_id: string }).thread_id === thread) then(() => it.refresh());
    if (m.event === 'open') then(() => it.back());
  });
  return [it, useSyncExternalStore(it.subscribe, it.now)];
}

/** The conversations that are open. */
export const conversations = (): Conversation[] => [...open.values()].map((held) => held.it);

/** How long what could not be sent waits until it is tried again, in milliseconds: at first, and at most. */
const [firstWait, longestWait] = [5000, 60_000];

/**
 * Sends what waits in the outbox for tasks that no page shows, whenever the server is there; what it could not take
 * then, such as one that was too busy, is tried again.
 */
export function followOutbox(): void {
  let wait = firstWait;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const send = async (): Promise<void> => {
    clearTimeout(timer);
    const trouble = await sendRest((thread) => open.has(thread));
    if (!passes(trouble) || isSignedOut(trouble)) return void (wait = firstWait);
    timer = setTimeout(() => void send(), wait);
    wait = Math.min(wait * 2, longestWait);
  };
  onNews((m) => {
    if (m.event === 'open') void send();
  });
  addEventListener('online', () => {
    for (const it of conversations()) void it.back(); // the stream of news need not have broken
    void send();
  });
}

const isSignedOut = (trouble: unknown): boolean => trouble instanceof Trouble && trouble.status === 401;
