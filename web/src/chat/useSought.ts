// A message that the address names (#m-ID), such as where a hit of a search leads: it is loaded, however old it is, put
// onto the screen and marked.
import { type RefObject, useEffect, useRef, useState } from 'react';
import { wordsNow } from '../lib/i18n';
import { useHash } from '../lib/router';
import { toast } from '../ui/Toasts';
import type { Conversation } from './talk/conversation';
import type { View } from './talk/view';
import { sameMessage, type Turn } from './talk/turns';
import { chat } from './words';

/** Leads to the message, and tells whether the address names one. */
export function useSought(
  conversation: Conversation,
  view: View,
  turns: Turn[],
  box: RefObject<HTMLElement | null>,
): boolean {
  const hash = useHash();
  const sought = hash.startsWith('#m-') ? decodeURIComponent(hash.slice(3)) : '';
  const [reached, setReached] = useState('');
  const shown = useRef('');
  useEffect(() => {
    if (!sought || view.loading) return;
    let over = false;
    void conversation
      .reach(sought)
      .then((there) => {
        if (over) return;
        if (there) setReached(sought);
        else toast({ text: wordsNow(chat).notThere, bad: true });
      })
      .catch(() => {}); // the next news load it
    return () => {
      over = true;
    };
  }, [conversation, sought, view.loading]);
  useEffect(() => {
    if (!reached || reached !== sought || shown.current === sought) return;
    const turn = turns.find((t) => sameMessage(t, reached));
    const section = turn && box.current?.querySelector<HTMLElement>(`[data-turn="${CSS.escape(turn.key)}"]`);
    if (!section) return;
    shown.current = sought;
    const place =
      (turn.ask?.message.id === reached
        ? section.querySelector('.me')
        : turn.answer?.message.id === reached
          ? section.querySelector('.prose')
          : null) ?? section;
    for (const before of box.current?.querySelectorAll('.sought') ?? []) before.classList.remove('sought');
    place.classList.add('sought');
    place.scrollIntoView({ block: section === place || place.clientHeight > innerHeight / 2 ? 'start' : 'center' });
  }, [reached, sought, turns, box]);
  useEffect(() => {
    shown.current = '';
  }, [sought]);
  return sought !== '';
}
