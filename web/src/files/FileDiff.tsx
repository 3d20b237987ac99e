// What a run has changed in one file, and a button that puts it back.
import { type ReactNode, useMemo, useState } from 'react';
import { sized, useWords } from '../lib/i18n';
import { ask } from '../lib/router';
import { Icon } from '../ui/Icon';
import { changes as words } from './changesWords';
import { fileAt, kindOf, nameOf, short } from './data';
import { hunksOf } from './diff';
import { Hunks } from './DiffView';
import { type FileChange, useUndo } from './undo';
import { UndoNote } from './Undoing';

interface FileDiffProps {
  thread: string;
  run: string;
  file: FileChange;
  /** Diffs of many files begin folded. */
  folded: boolean;
  /** What was and what is stand side by side. */
  split: boolean;
}

export function FileDiff({ thread, run, file, folded, split }: FileDiffProps): ReactNode {
  const w = useWords(words);
  const [open, setOpen] = useState(!folded);
  const path = short(file.path);
  const undo = useUndo(thread, run, [file.path]);
  const [back, tag] = { created: [w.remove, w.created], deleted: [w.bringBack, w.deleted] }[file.status] ?? [
    w.putBack,
    '',
  ];
  return (
    <section className="diff" aria-label={path} data-file={path}>
      <header>
        <button
          type="button"
          className="foldbutton"
          aria-expanded={open}
          aria-label={w.fold(path)}
          onClick={() => setOpen(!open)}
        >
          <Icon name={open ? 'down' : 'right'} />
          <b className="cut">{path}</b>
        </button>
        {tag && <span className="tag">{tag}</span>}
        <Counts add={file.additions} del={file.deletions} />
        <span className="grow" />
        {file.status !== 'deleted' && (
          <button type="button" className="btn ghost sm" onClick={() => ask({ panel: 'files', file: path, run: null })}>
            {w.open}
          </button>
        )}
        <button
          type="button"
          className="btn ghost sm"
          aria-label={back}
          title={back}
          disabled={undo.busy}
          onClick={() => void undo.look()}
        >
          <Icon name="undo" />
          <span className="label">{back}</span>
        </button>
      </header>
      <UndoNote undo={undo} />
      {open && <Content thread={thread} file={file} path={path} split={split} />}
    </section>
  );
}

export const Counts = ({ add, del }: { add: number; del: number }): ReactNode =>
  add + del > 0 && (
    <span className="counts num">
      {add > 0 && <span className="plus">+{add}</span>} {del > 0 && <span className="minus">−{del}</span>}
    </span>
  );

function Content({
  thread,
  file,
  path,
  split,
}: {
  thread: string;
  file: FileChange;
  path: string;
  split: boolean;
}): ReactNode {
  const w = useWords(words);
  const hunks = useMemo(() => hunksOf(file.diff), [file.diff]);
  if (file.symlink)
    return (
      <p className="filenote soft">{w.link(short(file.symlink_target_after ?? file.symlink_target_before ?? ''))}</p>
    );
  if (file.sensitive) return <p className="filenote soft">{w.sensitive}</p>;
  if (kindOf(path) === 'image' && file.status !== 'deleted') {
    return (
      <div className="fileview picture">
        <img src={`${fileAt(thread, path)}?s=${file.sha256_after ?? ''}`} alt={nameOf(path)} />
      </div>
    );
  }
  if (hunks.length > 0) {
    return (
      <>
        <Hunks hunks={hunks} label={w.fold(path)} split={split && file.status === 'modified'} />
        {file.diff_truncated && <p className="filenote soft">{w.cut}</p>}
      </>
    );
  }
  const size = (n: number | null): string => (n === null ? '–' : sized(n));
  return (
    <p className="filenote soft num">
      {file.binary ? w.binary : /large|size/.test(file.diff_unavailable_reason ?? '') ? w.tooLarge : w.noDiff}{' '}
      {w.sizes(size(file.size_before), size(file.size_after))}
    </p>
  );
}
