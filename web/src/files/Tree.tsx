// The tree of a task's files: folders open and shut, a file is a link that shows it. Arrows walk through it.
import { type KeyboardEvent, type ReactNode, useMemo, useState } from 'react';
import { sized, useWords, when } from '../lib/i18n';
import { ask } from '../lib/router';
import { Icon } from '../ui/Icon';
import type { Entry } from './data';
import { linesOf, type Node, treeOf } from './tree';
import { files as words } from './words';

interface TreeProps {
  list: Entry[];
  /** The file that is shown, as a short path. */
  open: string;
  /** The run whose changes are marked. */
  run: string;
}

export function Tree({ list, open, run }: TreeProps): ReactNode {
  const w = useWords(words);
  const [shut, setShut] = useState<ReadonlySet<string>>(new Set());
  const nodes = useMemo(() => treeOf(list), [list]);
  const lines = linesOf(nodes, shut);
  const fold = (path: string): void => {
    const next = new Set(shut);
    if (!next.delete(path)) next.add(path);
    setShut(next);
  };
  return (
    <nav className="filetree" aria-label={w.allFiles} onKeyDown={walk}>
      {lines.map((n) =>
        n.entry.kind === 'folder' ? (
          <button
            key={n.path}
            type="button"
            className={`row d${Math.min(n.depth, 6)}`}
            aria-expanded={!shut.has(n.path)}
            data-parent={n.path.slice(0, Math.max(0, n.path.lastIndexOf('/')))}
            data-path={n.path}
            onClick={() => fold(n.path)}
          >
            <Icon name={shut.has(n.path) ? 'right' : 'down'} className="i car" />
            <Icon name="folder" />
            <span className="cut">{n.name}</span>
          </button>
        ) : (
          <File key={n.path} node={n} on={n.path === open} marked={!!run && n.entry.made_by?.run_id === run} />
        ),
      )}
    </nav>
  );
}

function File({ node, on, marked }: { node: Node; on: boolean; marked: boolean }): ReactNode {
  const w = useWords(words);
  const { entry, name, path } = node;
  const by = entry.made_by?.kind;
  const who = by === 'upload' ? w.youMade : by ? w.puduMade : '';
  return (
    <button
      type="button"
      className={on ? `row on d${Math.min(node.depth, 6)}` : `row d${Math.min(node.depth, 6)}`}
      data-parent={path.slice(0, Math.max(0, path.lastIndexOf('/')))}
      aria-current={on ? 'true' : undefined}
      title={[path, who, when(entry.modified_at)].filter(Boolean).join(' · ')}
      onClick={() => ask({ file: path })}
    >
      <span className="cut">{name}</span>
      {marked && (
        <span className="st new" title={w.changed}>
          <span className="sr">{w.changed}</span>
        </span>
      )}
      <span className="at who">{who}</span>
      <span className="at time">{when(entry.modified_at)}</span>
      <span className="at size">{entry.kind === 'file' ? sized(entry.size) : '→'}</span>
    </button>
  );
}

/** The arrows go from line to line; left and right shut and open folders. */
function walk(e: KeyboardEvent<HTMLElement>): void {
  const all = [...e.currentTarget.querySelectorAll<HTMLElement>('.row')];
  const here = all.indexOf(document.activeElement as HTMLElement);
  const row = all[here];
  if (!row) return;
  const open = row.getAttribute('aria-expanded');
  const to = { ArrowDown: all[here + 1], ArrowUp: all[here - 1], Home: all[0], End: all.at(-1) }[e.key];
  if (to) to.focus();
  else if ((e.key === 'ArrowLeft' && open === 'true') || (e.key === 'ArrowRight' && open === 'false')) row.click();
  else if (e.key === 'ArrowLeft') all.find((r) => r.dataset['path'] === row.dataset['parent'])?.focus();
  else return;
  e.preventDefault();
}
