// The conversation of a thread for a page. It outlives the change of the address from the start page to the thread's own.
import { useEffect, useSyncExternalStore } from 'react';
import { onNews, useNews } from '../../lib/news/news';
import { Conversation, type View } from './conversation';
import { sendRest } from './outbox';

const open = new Map<string, { it: Conversation; users: number }>();

/** The conversation of a thread; one that was begun here needs no loading. */
export function conversationOf(thread: string, isNew = false): Conversation {
  let held = open.get(thread);
  if (!held) {
    held = { it: new Conversation(thread, isNew), users: 0 };
    open.set(thread, held);
    if (!isNew) void held.it.load();
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
    if (m.event === 'thread' && (m.data as { thread_id: string }).thread_id === thread) void it.refresh();
    if (m.event === 'open') void it.back();
  });
  return [it, useSyncExternalStore(it.subscribe, it.now)];
}

/** The conversations that are open. */
export const conversations = (): Conversation[] => [...open.values()].map((held) => held.it);

/** Sends what waits in the outbox for tasks that no page shows, whenever the server is there. */
export function followOutbox(): void {
  const send = (): void => void sendRest((thread) => open.has(thread));
  onNews((m) => {
    if (m.event === 'open') send();
  });
  addEventListener('online', send);
}
