// Where a conversation stands on the screen: at its end when it is opened; the person's new words at the top when they
// are sent; along with what is written, until the reader scrolls up.
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { Turn } from './talk/turns';

/** How far from the end still counts as the end, in pixels. */
const near = 40;

/** What stands above new words, in pixels. */
const margin = 16;

/**
 * Keeps a box at the end of what it has, and tells whether the reader is away from it and how to get back. Elsewhere
 * says that the address leads to another place of it.
 */
export function useFollowing(
  box: RefObject<HTMLDivElement | null>,
  turns: Turn[],
  ready: boolean,
  elsewhere = false,
): [boolean, () => void] {
  const [away, setAway] = useState(false);
  const following = useRef(true);
  const last = useRef('');
  const first = useRef('');
  const opened = useRef(false);
  const toEnd = (): void => {
    const el = box.current;
    if (el) el.scrollTop = el.scrollHeight;
    following.current = true;
  };
  useEffect(() => {
    const el = box.current;
    if (!el) return;
    let before = el.scrollTop;
    const scrolled = (): void => {
      const rest = el.scrollHeight - el.clientHeight - el.scrollTop;
      if (el.scrollTop < before - 2) following.current = false;
      if (rest < near) following.current = true;
      before = el.scrollTop;
      setAway(rest > el.clientHeight / 2);
    };
    el.addEventListener('scroll', scrolled, { passive: true });
    return () => el.removeEventListener('scroll', scrolled);
  }, [box]);
  useLayoutEffect(() => {
    const key = turns.at(-1)?.key ?? '';
    if (!ready || key === '') return;
    const fresh = key !== last.current;
    last.current = key;
    const above = first.current !== turns[0]?.key; // older turns came
    first.current = turns[0]?.key ?? '';
    if (!opened.current && elsewhere) {
      opened.current = true;
      following.current = false;
      return;
    }
    const el = box.current;
    const newest = el?.querySelector<HTMLElement>('.turn.last');
    if (opened.current && fresh && el && newest) {
      el.scrollTop += newest.getBoundingClientRect().top - el.getBoundingClientRect().top - margin;
      following.current = true;
    } else if (
      !opened.current ||
      (following.current && above) ||
      (following.current && el && newest && newest.scrollHeight > el.clientHeight - 200)
    )
      toEnd();
    opened.current = true;
  });
  return [away, toEnd];
}
