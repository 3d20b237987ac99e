// What is typed into a field of a search, and the address that follows it.
import { useEffect, useRef, useState } from 'react';
import { ask } from './router';

/** A value as it was when it last stood still for a moment. */
export function useSettled<T>(value: T, millis: number): T {
  const [settled, set] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => set(value), millis);
    return () => clearTimeout(timer);
  }, [value, millis]);
  return settled;
}

/**
 * What is written in the field of the search: the address follows when it stands still for a moment, and it follows the
 * address.
 */
export function useWritten(asked: string): [string, (q: string) => void] {
  const [q, setQ] = useState(asked);
  const settled = useSettled(q, 150);
  const told = useRef(asked);
  useEffect(() => {
    if (asked !== told.current) setQ(asked);
    told.current = asked;
  }, [asked]);
  useEffect(() => {
    if (settled === told.current) return;
    told.current = settled;
    ask({ q: settled || null }, true);
  }, [settled]);
  return [q, setQ];
}
