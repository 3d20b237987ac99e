// What a run has changed in the files of its task: diffs, and the way back.
import { type ReactNode, useMemo } from 'react';
import type { View } from '../chat/talk/view';
import type { Run } from '../chat/talk/talk';
import { useWords, when } from '../lib/i18n';
import { ask, useQueryOf } from '../lib/router';
import { change, useSetting } from '../lib/settings';
import { Icon } from '../ui/Icon';
import { type Item, Menu } from '../ui/Menu';
import { Notice } from '../ui/Notice';
import { changes as words } from './changesWords';
import { allAt, nameOf, short } from './data';
import { Counts, FileDiff } from './FileDiff';
import { useBeat } from './FilesPanel';
import { Broken } from './Preview';
import { type Changes, type FileChange, useChanges, useUndo } from './undo';
import { UndoNote } from './Undoing';
import { useWide } from './useWide';
import { beatOf } from './working';

/** Of more files than these the diffs begin folded. */
const mostOpen = 12;

export default function ChangesPanel({ thread, view }: { thread: string; view: View }): ReactNode {
  const w = useWords(words);
  const asked = useQueryOf().get('run') ?? '';
  const runs = useMemo(() => Object.values(view.talk.runs).sort((a, b) => b.began - a.began), [view.talk.runs]);
  const run = asked || (runs[0]?.id ?? '');
  useBeat(thread, beatOf(view.talk));
  const { data, error, refetch, isPending } = useChanges(thread, run);
  if (!run) return <Notice icon="diff" text={w.noRun} />;
  if (error) return <Broken error={error} again={() => void refetch()} />;
  if (isPending) return <div aria-busy="true" />;
  return <Whole key={run} thread={thread} run={run} runs={runs} changes={data} />;
}

interface WholeProps {
  thread: string;
  run: string;
  runs: Run[];
  changes: Changes;
}

function Whole({ thread, run, runs, changes }: WholeProps): ReactNode {
  const w = useWords(words);
  const [box, wide] = useWide(640);
  const undo = useUndo(thread, run, []);
  const [lines, roomy] = useWide(400);
  const split = useSetting('columns') === 2 && roomy;
  const list = changes.files ?? [];
  const { additions, deletions, truncated } = changes.summary;
  return (
    <div className={wide ? 'filepanel wide changed' : 'filepanel changed'} ref={box}>
      <div className="sumline">
        <Which run={run} runs={runs} />
        {list.length > 0 && (
          <span className="num cut">
            <Counts add={additions} del={deletions} /> {w.inFiles(list.length)}
          </span>
        )}
        <span className="grow" />
        {roomy && list.length > 0 && (
          <span className="seg" role="group" aria-label={w.columns}>
            {([1, 2] as const).map((n) => (
              <button key={n} type="button" aria-pressed={split === (n === 2)} onClick={() => change({ columns: n })}>
                {n === 1 ? w.oneColumn : w.twoColumns}
              </button>
            ))}
          </span>
        )}
        {list.length > 0 && (
          <button
            type="button"
            className="btn ghost sm"
            aria-label={w.undo}
            title={w.undo}
            disabled={undo.busy}
            onClick={() => void undo.look()}
          >
            <Icon name="undo" />
            {(wide || !roomy) && <span className="label">{w.undo}</span>}
          </button>
        )}
        <a className="btn ghost icon sm" href={allAt(thread)} download aria-label={w.downloadAll} title={w.downloadAll}>
          <Icon name="download" />
        </a>
      </div>
      {wide && list.length > 1 && <Names list={list} />}
      <div className="changes" ref={lines}>
        <UndoNote undo={undo} />
        {list.length === 0 && <Notice icon="diff" text={w.none} />}
        {list.map((f) => (
          <FileDiff key={f.path} thread={thread} run={run} file={f} folded={list.length > mostOpen} split={split} />
        ))}
        {truncated && <p className="filenote soft">{w.truncated}</p>}
      </div>
    </div>
  );
}

/** The run that is looked at, of those of the task. */
function Which({ run, runs }: { run: string; runs: Run[] }): ReactNode {
  const w = useWords(words);
  const nameOfRun = (r: Run): string => r.says?.text.slice(0, 60) || when(r.began);
  const items = runs.slice(0, 30).map((r, i): Item => {
    const label = i === 0 ? w.last : nameOfRun(r);
    return {
      key: r.id,
      label,
      hint: i === 0 ? nameOfRun(r) : when(r.began),
      on: r.id === run,
      choose: () => ask({ run: i === 0 ? null : r.id }, true),
    };
  });
  const chosen = items.find((i) => i.on);
  return (
    <Menu className="chip which" title={w.which} items={items}>
      <span className="cut">{chosen?.label ?? w.last}</span>
      <Icon name="down" className="i car" />
    </Menu>
  );
}

/** The names of the files beside their diffs. */
function Names({ list }: { list: FileChange[] }): ReactNode {
  const w = useWords(words);
  const folders = new Map<string, FileChange[]>();
  for (const f of list) {
    const folder = short(f.path).slice(0, Math.max(0, short(f.path).lastIndexOf('/')));
    folders.set(folder, [...(folders.get(folder) ?? []), f]);
  }
  return (
    <nav className="filetree" aria-label={w.which}>
      {[...folders].map(([folder, inside]) => (
        <div key={folder} className="contents">
          <div className="row">
            <Icon name="folder" />
            <span className="cut">{folder || '/'}</span>
          </div>
          {inside.map((f) => (
            <button
              key={f.path}
              type="button"
              className="row d1"
              onClick={() => document.querySelector(`[data-file="${CSS.escape(short(f.path))}"]`)?.scrollIntoView()}
            >
              <span className="cut">{nameOf(f.path)}</span>
              <span className="at">
                {f.status === 'created' ? (
                  w.created
                ) : f.status === 'deleted' ? (
                  w.deleted
                ) : (
                  <Counts add={f.additions} del={f.deletions} />
                )}
              </span>
            </button>
          ))}
        </div>
      ))}
    </nav>
  );
}
