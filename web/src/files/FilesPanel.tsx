// The files of a task: the tree, and the file that is chosen; both beside each other where the panel is wide. They are
// read anew when a run has done something.
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef } from 'react';
import { Trouble } from '../lib/api/client';
import { sized, useWords } from '../lib/i18n';
import { useQueryOf } from '../lib/router';
import { Icon } from '../ui/Icon';
import { Notice } from '../ui/Notice';
import type { View } from '../chat/talk/view';
import { allAt, filesKey, mostListed, short, useFiles } from './data';
import { Broken } from './Preview';
import { Tree } from './Tree';
import { newestOf } from './tree';
import { useWide } from './useWide';
import { Viewer, Writing } from './Viewer';
import { files as words } from './words';
import { beatOf, lastRun, writingOf } from './working';

export default function FilesPanel({ thread, view }: { thread: string; view: View }): ReactNode {
  const w = useWords(words);
  const files = useFiles(thread);
  useBeat(thread, beatOf(view.talk));
  const [box, wide] = useWide(640);
  const asked = short(useQueryOf().get('file') ?? '');
  const list = files.data ?? [];
  const writing = writingOf(view);
  const open = asked || (wide ? short(newestOf(list)?.path ?? '') : '');
  const entry = list.find((e) => short(e.path) === open);
  const none = files.error instanceof Trouble && files.error.status === 404;
  return (
    <div className={wide ? 'filepanel wide' : 'filepanel'} ref={box}>
      {(wide || !asked) && (
        <div className="fileside">
          {list.length > 0 && (
            <div className="sumline">
              <span className="grow num">
                {sized(list.reduce((sum, e) => sum + (e.kind === 'file' ? e.size : 0), 0))}
              </span>
              <a
                className="btn ghost sm"
                href={allAt(thread)}
                download
                aria-label={w.downloadAll}
                title={w.downloadAll}
              >
                <Icon name="download" />
                {w.all}
              </a>
            </div>
          )}
          {files.error && !none ? (
            <Broken error={files.error} again={() => void files.refetch()} />
          ) : list.every((e) => e.kind === 'folder') ? (
            !files.isPending && <Notice icon="folder" text={w.none} />
          ) : (
            <Tree list={list} open={open} run={lastRun(view.talk)?.id ?? ''} />
          )}
          {list.length >= mostListed && <p className="filenote soft">{w.more(mostListed)}</p>}
        </div>
      )}
      {entry ? (
        <Viewer
          key={open}
          thread={thread}
          entry={entry}
          path={open}
          {...(writing?.path === open ? { writing: writing.text } : {})}
        />
      ) : writing?.path === open && asked ? (
        <Writing thread={thread} path={open} text={writing.text} />
      ) : (
        asked && !files.isPending && !files.error && <Notice icon="file" text={w.gone} />
      )}
    </div>
  );
}

/** Has what is known of the files read anew when the beat changes: at most twice a second. */
export function useBeat(thread: string, beat: string): void {
  const client = useQueryClient();
  const heard = useRef(beat);
  useEffect(() => {
    if (heard.current === beat) return;
    const timer = setTimeout(() => {
      heard.current = beat;
      void client.invalidateQueries({ queryKey: filesKey(thread) });
    }, 500);
    return () => clearTimeout(timer);
  }, [client, thread, beat]);
}
