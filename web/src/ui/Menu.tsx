// A menu at a button. It floats in the browser's top layer, closes on a choice, on Escape and on a click elsewhere, is
// walked through with the arrows and by first letters, and gives the focus back.
import { type KeyboardEvent, type ReactNode, useId, useLayoutEffect, useRef, useState } from 'react';
import { Icon, type IconName } from './Icon';

export interface Item {
  key: string;
  label: string;
  /** A line below the label. */
  hint?: string;
  icon?: IconName;
  /** Whether it is what is chosen, of several. */
  on?: boolean;
  danger?: boolean;
  /** A line above it. */
  rule?: boolean;
  keys?: string;
  choose?: () => void;
  /** What stands in the menu's place when it is chosen. */
  more?: Item[];
}

interface MenuProps {
  /** The items; a function makes them when the menu opens. */
  items: Item[] | (() => Item[]);
  className: string;
  label?: string;
  children: ReactNode;
  /** Where it opens: by its left or its right edge. */
  end?: boolean;
  title?: string;
}

/** A button with its menu. */
export function Menu({ items, className, label, children, end = false, title }: MenuProps): ReactNode {
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  const close = (): void => {
    setOpen(false);
    button.current?.focus();
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        className={className}
        aria-haspopup="menu"
        aria-expanded={open}
        {...(open ? { 'aria-controls': id } : {})}
        {...(label ? { 'aria-label': label } : {})}
        {...(title ? { title } : {})}
        onClick={() => setOpen(!open)}
        onKeyDown={(e) => {
          if (e.key !== 'ArrowDown' && e.key !== 'ArrowUp') return;
          e.preventDefault();
          setOpen(true);
        }}
      >
        {children}
      </button>
      {open && (
        <List
          id={id}
          items={typeof items === 'function' ? items() : items}
          anchor={button.current}
          end={end}
          label={label ?? title ?? ''}
          close={close}
          shut={() => setOpen(false)}
        />
      )}
    </>
  );
}

interface ListProps {
  id: string;
  items: Item[];
  anchor: HTMLElement | null;
  end: boolean;
  label: string;
  close: () => void;
  shut: () => void;
}

function List({ id, items, anchor, end, label, close, shut }: ListProps): ReactNode {
  const list = useRef<HTMLDivElement>(null);
  const [first] = useState(items);
  const [inner, setInner] = useState<Item | null>(null);
  useLayoutEffect(() => {
    const menu = list.current;
    if (!menu || !anchor) return;
    if (!menu.matches(':popover-open')) menu.showPopover();
    place(menu, anchor, end);
    (menu.querySelector<HTMLElement>('.on') ?? menu.querySelector<HTMLElement>('button'))?.focus();
    // A click outside closes it; the click on its own button is the button's.
    const outside = (e: Event): void => {
      if (!menu.contains(e.target as Node) && !anchor.contains(e.target as Node)) shut();
    };
    addEventListener('pointerdown', outside, true);
    addEventListener('resize', shut);
    return () => {
      removeEventListener('pointerdown', outside, true);
      removeEventListener('resize', shut);
    };
  }, [anchor, end, shut, inner]);
  return (
    <div
      ref={list}
      id={id}
      className="menu"
      role="menu"
      popover="manual"
      aria-label={label}
      onKeyDown={(e) => walk(e, close, inner && (() => setInner(null)))}
    >
      {(inner?.more ?? first).map((item) => (
        <Entry key={item.key} item={item} close={close} open={setInner} />
      ))}
    </div>
  );
}

function Entry({ item, close, open }: { item: Item; close: () => void; open: (item: Item) => void }): ReactNode {
  const classes = [item.on && 'on', item.danger && 'danger'].filter(Boolean).join(' ');
  return (
    <>
      {item.rule && <hr />}
      <button
        type="button"
        role={item.on === undefined ? 'menuitem' : 'menuitemradio'}
        {...(item.on === undefined ? {} : { 'aria-checked': item.on })}
        tabIndex={-1}
        className={classes}
        {...(item.more ? { 'aria-haspopup': 'menu' as const } : {})}
        onClick={() => {
          if (item.more) return open(item);
          close();
          item.choose?.();
        }}
      >
        {item.icon ? <Icon name={item.icon} /> : <span />}
        <span>{item.label}</span>
        {item.more ? (
          <Icon name="right" />
        ) : item.on ? (
          <Icon name="check" />
        ) : item.keys ? (
          <kbd>{item.keys}</kbd>
        ) : (
          <span />
        )}
        {item.hint && <small>{item.hint}</small>}
      </button>
    </>
  );
}

/** Puts the menu below its button, or above it where there is more room. */
function place(menu: HTMLElement, anchor: HTMLElement, end: boolean): void {
  const at = anchor.getBoundingClientRect();
  const size = menu.getBoundingClientRect();
  const gap = 6;
  const edge = 8;
  const below = innerHeight - at.bottom - gap - edge;
  const up = size.height > below && at.top > below;
  const top = up ? Math.max(edge, at.top - gap - size.height) : at.bottom + gap;
  const left = end ? at.right - size.width : at.left;
  menu.style.top = `${top}px`;
  menu.style.left = `${Math.max(edge, Math.min(left, innerWidth - size.width - edge))}px`;
}

/** The arrows walk; the right one opens what stands behind an item, the left one goes back. */
function walk(e: KeyboardEvent<HTMLDivElement>, close: () => void, back: (() => void) | null): void {
  const all = [...e.currentTarget.querySelectorAll<HTMLElement>('button')];
  const here = all.indexOf(document.activeElement as HTMLElement);
  const to = { ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: all.length - 1 }[e.key];
  if (to !== undefined) {
    all[(to + all.length) % all.length]?.focus();
  } else if (e.key === 'ArrowRight' && all[here]?.ariaHasPopup) {
    all[here].click();
  } else if (e.key === 'ArrowLeft' && back) {
    back();
  } else if (e.key === 'Escape' || e.key === 'Tab') {
    e.stopPropagation();
    close();
  } else if (e.key.length === 1 && e.key !== ' ') {
    const order = [...all.slice(here + 1), ...all.slice(0, here + 1)];
    order.find((b) => b.textContent?.trim().toLowerCase().startsWith(e.key.toLowerCase()))?.focus();
    return;
  } else return;
  e.preventDefault();
}
