// THE keys of the pages, and the hook that acts on them. The page of all keys reads this list, with the words of
// keyWords.ts.
import { useEffect, useRef } from 'react';
import { settings } from './settings';

/** Where a key works: on every page, in a task, where one writes, on a line of a list of tasks. */
export type Where = 'all' | 'task' | 'write' | 'row';

/** A key, such as Ctrl Shift O; what it does, by the name of its words; and where. */
export interface Key<What extends string = string> {
  key: string;
  what: What;
  where: Where;
}

export const keys = [
  { key: 'Ctrl K', what: 'palette', where: 'all' },
  { key: 'Ctrl Shift O', what: 'newTask', where: 'all' },
  { key: 'Ctrl B', what: 'sidebar', where: 'all' },
  { key: '/', what: 'composer', where: 'all' },
  { key: 'A', what: 'needsYou', where: 'all' },
  { key: '?', what: 'help', where: 'all' },
  { key: 'Escape', what: 'close', where: 'all' },
  { key: 'Ctrl .', what: 'stop', where: 'task' },
  { key: 'Ctrl \\', what: 'panel', where: 'task' },
  { key: 'Ctrl Enter', what: 'answer', where: 'task' },
  { key: 'Ctrl Shift C', what: 'copyAnswer', where: 'task' },
  { key: 'J', what: 'nextStep', where: 'task' },
  { key: 'K', what: 'previousStep', where: 'task' },
  { key: 'O', what: 'openStep', where: 'task' },
  { key: '[', what: 'olderVersion', where: 'task' },
  { key: ']', what: 'newerVersion', where: 'task' },
  { key: 'Enter', what: 'send', where: 'write' },
  { key: 'Alt Enter', what: 'queue', where: 'write' },
  { key: 'Shift Enter', what: 'newLine', where: 'write' },
  { key: 'ArrowUp', what: 'editLast', where: 'write' },
  { key: 'F2', what: 'rename', where: 'row' },
  { key: 'E', what: 'archive', where: 'row' },
] as const satisfies Key[];

export type What = (typeof keys)[number]['what'];

/** What is done at a key; false says that there was nothing to do, and leaves the key to the browser. */
export type Acts = Partial<Record<What, (e: KeyboardEvent) => boolean | void>>;

/**
 * Acts on keys while the component is there: not over a dialog, and on single characters only where nothing is typed.
 */
export function useKeys(acts: Acts): void {
  const now = useRef(acts);
  useEffect(() => {
    now.current = acts;
  });
  useEffect(() => {
    const press = (e: KeyboardEvent): void => {
      if (e.defaultPrevented || e.isComposing || document.querySelector(':modal')) return;
      const found = keys.find(
        (k) => now.current[k.what] && fits(k.key, e) && (!isSingle(k.key) || mayBeSingle(k.key, e.target)),
      );
      if (found && now.current[found.what]?.(e) !== false) e.preventDefault();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}

/** Whether a key is a single character, which may be switched off. */
export const isSingle = (key: string): boolean => key.length === 1;

/** What takes in single characters itself. */
const typed =
  'input:not([type=checkbox], [type=radio], [type=button]), textarea, select, [contenteditable], [role=menu], [role=listbox]';
const mayBeSingle = (key: string, target: EventTarget | null): boolean =>
  settings().letters && !settings().keysOff.includes(key) && !(target instanceof Element && target.closest(typed));

/** What of an event tells which key it is. */
type Pressed = Pick<KeyboardEvent, 'key' | 'code' | 'ctrlKey' | 'metaKey' | 'shiftKey' | 'altKey'>;

/**
 * Whether an event is a key of the list. Ctrl is ⌘ too. A letter is found on keyboards that have none of Latin, and it
 * is told from its capital by Shift; what needs Shift on some keyboards, such as ?, is what it says.
 */
export function fits(key: string, e: Pressed): boolean {
  const parts = key.split(' ');
  const main = parts.pop() ?? '';
  const letter = /^[A-Z]$/.test(main);
  const same =
    letter && e.key.charCodeAt(0) > 127 ? e.code === `Key${main}` : e.key.toLowerCase() === main.toLowerCase();
  const shift = main.length === 1 && !letter ? e.shiftKey : parts.includes('Shift');
  return (
    same &&
    (e.ctrlKey || e.metaKey) === parts.includes('Ctrl') &&
    e.altKey === parts.includes('Alt') &&
    e.shiftKey === shift
  );
}

const onMac = typeof navigator !== 'undefined' && /Mac|iP(hone|ad)/.test(navigator.platform);

/** A key as its keyboard has it: Ctrl ⇧ O, or ⌘ ⇧ O. */
export const shown = (key: string): string =>
  key
    .replace('Ctrl', onMac ? '⌘' : 'Ctrl')
    .replace('Shift', '⇧')
    .replace('Enter', '↵')
    .replace('ArrowUp', '↑')
    .replace('Escape', 'Esc');

/** The key of what it does, as it is shown. */
export const keyOf = (what: What): string => shown(keys.find((k) => k.what === what)?.key ?? '');
