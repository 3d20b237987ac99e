// The palette: tasks first, then messages, files, commands. It is over the page while the address has ?find=.
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { at } from '../lib/base';
import { useWords, when } from '../lib/i18n';
import { fits, keys } from '../lib/keys';
import { go, match, usePath } from '../lib/router';
import { useSettled } from '../lib/settled';
import { shell } from '../shell/words';
import { Glyph } from '../ui/Glyph';
import { Icon } from '../ui/Icon';
import { useActs } from './acts';
import { commandsFor } from './commands';
import { Excerpt } from './Excerpt';
import { addressOf, type Hit, titled, useFound } from './found';
import { closePalette, leftPalette } from './opening';
import { palette } from './paletteWords';
import { glyphOf, isShown, type Task, useTasks } from './tasks';

/** How many of a kind are shown. */
const most = 8;

/** A line that can be chosen: it leads to an address, or does something. */
interface Line {
  key: string;
  to?: string;
  go?: () => void;
  stays?: boolean;
  content: ReactNode;
}
type Group = 'tasks' | 'messages' | 'files' | 'commands';

export default function Palette(): ReactNode {
  const w = useWords(palette);
  const dialog = useRef<HTMLDialogElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const [q, setQ] = useState('');
  const [at0, setAt] = useState(0);
  const [archived, setArchived] = useState(false);
  const settled = useSettled(q, 60);
  const found = useFound(settled, { archived });
  const groups = useLines(q, q.trim() ? (found.data?.hits ?? []) : [], archived, setArchived);
  const lines = groups.flatMap(([, all]) => all);
  const here = Math.min(at0, lines.length - 1);
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      // What was chosen may have put the focus somewhere already.
      if (document.activeElement === document.body && before instanceof HTMLElement) before.focus();
    };
  }, []);
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }, [here, q]);
  const choose = (line: Line | undefined, beside = false): void => {
    if (!line) return;
    if (beside && line.to) return void window.open(at(line.to), '_blank', 'noopener');
    if (line.stays) return line.go?.();
    if (line.to) {
      leftPalette();
      return go(line.to, true);
    }
    closePalette(line.go);
  };
  const key = (e: KeyboardEvent): void => {
    if (e.nativeEvent.isComposing || e.keyCode === 229) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (step) setAt((here + step + lines.length) % Math.max(lines.length, 1));
    else if (e.key === 'Enter') choose(lines[here], e.ctrlKey || e.metaKey);
    else if (keys.some((k) => k.what === 'palette' && fits(k.key, e.nativeEvent))) closePalette();
    else return;
    e.preventDefault();
  };
  let n = 0;
  return (
    <dialog
      ref={dialog}
      className="pal"
      aria-label={w.name}
      onKeyDown={key}
      onCancel={(e) => {
        e.preventDefault();
        closePalette();
      }}
      onClick={(e) => e.target === dialog.current && closePalette()}
    >
      <div className="q">
        <Icon name="search" />
        <input
          value={q}
          autoFocus
          role="combobox"
          aria-label={w.field}
          placeholder={w.field}
          aria-expanded="true"
          aria-controls="found"
          aria-autocomplete="list"
          spellCheck={false}
          maxLength={300}
          {...(lines[here] ? { 'aria-activedescendant': `hit-${lines[here].key}` } : {})}
          onChange={(e) => {
            setQ(e.target.value);
            setAt(0);
          }}
        />
        <button type="button" tabIndex={-1} onClick={() => closePalette()}>
          <kbd>Esc</kbd>
        </button>
      </div>
      <div className="res" id="found" role="listbox" aria-label={w.found} tabIndex={-1} ref={list}>
        {groups.map(([group, all]) =>
          all.length === 0 ? null : (
            <div key={group} role="group" aria-label={w[group]}>
              <p className="gh" aria-hidden="true">
                {w[group]}
              </p>
              {all.map((line) => {
                const i = n++;
                return (
                  // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus, and its keys choose
                  <a
                    key={line.key}
                    id={`hit-${line.key}`}
                    role="option"
                    aria-selected={i === here}
                    tabIndex={-1}
                    className={i === here ? 'hit on' : 'hit'}
                    {...(line.to ? { href: at(line.to) } : {})}
                    onPointerMove={() => setAt(i)}
                    // biome-ignore lint/a11y/useValidAnchor: most lines lead somewhere
                    onClick={(e) => {
                      if (line.to && (e.ctrlKey || e.metaKey || e.shiftKey)) return;
                      e.preventDefault();
                      choose(line);
                    }}
                  >
                    {line.content}
                  </a>
                );
              })}
            </div>
          ),
        )}
      </div>
      <footer>
        <span className="not-narrow">
          <kbd>↑</kbd> <kbd>↓</kbd> {w.choose}
        </span>
        <span className="not-narrow">
          <kbd>↵</kbd> {w.open}
        </span>
        <span className="not-narrow">
          <kbd>Ctrl ↵</kbd> {w.beside}
        </span>
        <span className="grow" />
        <span role="status">
          {found.isError
            ? w.failed
            : q.trim() &&
              found.data?.q === q &&
              (found.data.hits.length > 0
                ? w.sum(found.data.hits.length, Math.round(found.data.millis))
                : w.nothing(q.trim()))}
        </span>
      </footer>
    </dialog>
  );
}

/** The lines for a query, by their groups. */
function useLines(q: string, hits: Hit[], archived: boolean, setArchived: (on: boolean) => void): [Group, Line[]][] {
  const s = useWords(shell);
  const acts = useActs();
  const all = useTasks().data?.threads ?? [];
  const path = usePath();
  const here = all.find((t) => t.thread_id === match('/c/:thread', path)?.['thread']);
  const known = new Map(all.map((t) => [t.thread_id, t]));
  const titles = hits.filter((h) => h.kind === 'title');
  const near: Task[] = q.trim() ? titled(all, q) : all.filter(isShown);
  const tasks = near.slice(0, most).map((t): Line => taskLine(t.thread_id, t.title || s.untitled, t.updated_at, t));
  const more = titles
    .filter((h) => !near.some((t) => t.thread_id === h.thread_id))
    .map((h) => taskLine(h.thread_id, h.title, h.at, known.get(h.thread_id), h));
  const messages = hits.filter((h) => h.kind === 'message').slice(0, most);
  const files = hits.filter((h) => h.kind === 'file').slice(0, most);
  const commands = commandsFor(q, here, acts, archived, setArchived);
  return [
    ['tasks', [...tasks, ...more].slice(0, most)],
    ['messages', messages.map((h) => messageLine(h, h.title || s.untitled))],
    ['files', files.map((h) => fileLine(h, h.title || s.untitled))],
    [
      'commands',
      commands.map((c) => ({
        key: `do-${c.key}`,
        ...(c.to ? { to: c.to } : {}),
        ...(c.go ? { go: c.go } : {}),
        ...(c.stays ? { stays: true } : {}),
        content: (
          <>
            <Icon name={c.icon} />
            <span className="cut">{c.label}</span>
            {c.keys && (
              <small>
                <kbd>{c.keys}</kbd>
              </small>
            )}
          </>
        ),
      })),
    ],
  ];
}

const taskLine = (thread: string, title: string, stamp: string, task: Task | undefined, hit?: Hit): Line => ({
  key: `t-${thread}`,
  to: `/c/${thread}`,
  content: (
    <>
      <Glyph state={task ? glyphOf(task) : 'read'} />
      <span className="cut">{hit ? <Excerpt of={hit.excerpt} /> : title}</span>
      <small>{when(stamp)}</small>
    </>
  ),
});

const messageLine = (hit: Hit, title: string): Line => ({
  key: `m-${hit.thread_id}-${hit.message_id}`,
  to: addressOf(hit),
  content: (
    <>
      <Icon name="chat" />
      <span className="cut">{title}</span>
      <small>{when(hit.at)}</small>
      <small className="sn cut">
        <Excerpt of={hit.excerpt} />
      </small>
    </>
  ),
});

const fileLine = (hit: Hit, title: string): Line => ({
  key: `f-${hit.thread_id}-${hit.path}`,
  to: addressOf(hit),
  content: (
    <>
      <Icon name="file" />
      <span className="cut">
        <Excerpt of={hit.excerpt} />
      </span>
      <small className="cut">{title}</small>
    </>
  ),
});
