// The files of a folder: added by the button or dropped, listed, saved, deleted.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type DragEvent, type ReactNode, useRef, useState } from 'react';
import { api, fill, Trouble } from '../lib/api/client';
import { upload } from '../lib/api/upload';
import { at } from '../lib/base';
import { errors, sentence } from '../lib/errors';
import { sized, useWords, when } from '../lib/i18n';
import { uuid } from '../lib/ids';
import { useQueryOf } from '../lib/router';
import { failed } from '../shell/Failure';
import { Icon } from '../ui/Icon';
import { askSure, Sure } from '../ui/Sure';
import { folderWords } from './folderWords';
import { Broken } from './Lists';
import { foldersKey } from './tasks';

interface Sending {
  id: string;
  name: string;
  /** How much of it is there, from 0 to 1. */
  part: number;
  trouble?: Trouble;
  stop: () => void;
}

const home = '/mnt/folder/';
const short = (path: string): string => (path.startsWith(home) ? path.slice(home.length) : path);

export function FolderFiles({ folder }: { folder: string }): ReactNode {
  const w = useWords(folderWords);
  const client = useQueryClient();
  const field = useRef<HTMLInputElement>(null);
  const sure = useQueryOf().get('sure') ?? '';
  const [over, setOver] = useState(false);
  const [sending, setSending] = useState<readonly Sending[]>([]);
  const key = [...foldersKey, folder, 'files'];
  const path = { folder_id: folder };
  const files = useQuery({
    queryKey: key,
    queryFn: async () => (await api('get', '/folders/{folder_id}/files', { path, query: { limit: 1000 } })) ?? [],
  });
  const list = files.data?.filter((f) => f.kind !== 'folder') ?? [];
  const add = (given: Iterable<File>): void => {
    for (const file of given) {
      const id = uuid();
      const change = (some: Partial<Sending> | null): void =>
        setSending((all) => all.flatMap((s) => (s.id !== id ? s : some ? { ...s, ...some } : [])));
      const request = upload(fill('/folders/{folder_id}/files', path), file, (part) => change({ part }));
      setSending((all) => [...all, { id, name: file.name, part: 0, stop: request.stop }]);
      void request.done.then(
        () => {
          change(null);
          void client.invalidateQueries({ queryKey: key });
        },
        (trouble: unknown) => change(trouble instanceof Trouble ? { trouble } : null), // else it was stopped
      );
    }
  };
  const drop = (e: DragEvent): void => {
    e.preventDefault();
    setOver(false);
    add(e.dataTransfer.files);
  };
  const remove = async (name: string): Promise<void> => {
    try {
      await api('delete', '/folders/{folder_id}/files/{path}', { path: { ...path, path: name } });
    } catch (error) {
      failed(error);
    }
    void client.invalidateQueries({ queryKey: key });
  };
  const meant = list.find((f) => sure === `file:${short(f.path)}`);
  return (
    <section
      className={over ? 'f dropping' : 'f'}
      aria-label={w.files}
      onDragOver={(e) => {
        if (!e.dataTransfer.types.includes('Files')) return;
        e.preventDefault();
        setOver(true);
      }}
      onDragLeave={(e) => !e.currentTarget.contains(e.relatedTarget as Node | null) && setOver(false)}
      onDrop={drop}
    >
      <div className="flex items-center gap-2">
        <h2 className="label grow">{w.files}</h2>
        <button type="button" className="btn sm" onClick={() => field.current?.click()}>
          <Icon name="clip" />
          {w.add}
        </button>
        <input
          ref={field}
          type="file"
          multiple
          hidden
          onChange={(e) => {
            add(e.target.files ?? []);
            e.target.value = '';
          }}
        />
      </div>
      {files.isError && <Broken trouble={files.error} again={() => void files.refetch()} />}
      {list.length + sending.length > 0 && (
        <div className="list">
          {list.map((f) => (
            <div key={f.path} className="task-line file">
              <Icon name="file" />
              <a
                className="cut"
                href={`${at(fill('/folders/{folder_id}/files/{path}', { ...path, path: short(f.path) }))}?download=true`}
                download
                aria-label={w.download(short(f.path))}
              >
                {short(f.path)}
              </a>
              <span className="w">
                {sized(f.size)} · {when(f.modified_at)}
              </span>
              <button
                type="button"
                className="btn ghost icon sm"
                aria-label={w.removeFile(short(f.path))}
                onClick={() => askSure(`file:${short(f.path)}`)}
              >
                <Icon name="trash" />
              </button>
            </div>
          ))}
          {sending.map((s) => (
            <SendingLine key={s.id} it={s} close={() => setSending((all) => all.filter((x) => x.id !== s.id))} />
          ))}
        </div>
      )}
      <span className="hint">
        {list.length + sending.length === 0 && !files.isPending ? `${w.drop} ${w.filesHint}` : w.filesHint}
      </span>
      {meant && (
        <Sure
          title={w.sureFile(short(meant.path))}
          text={w.sureFileText}
          act={w.forGood}
          go={() => void remove(short(meant.path))}
        />
      )}
    </section>
  );
}

function SendingLine({ it, close }: { it: Sending; close: () => void }): ReactNode {
  const w = useWords(folderWords);
  const e = useWords(errors);
  return (
    <div className="task-line file">
      <Icon name={it.trouble ? 'alert' : 'file'} />
      {it.trouble ? (
        <span className="text-red" role="alert">
          {it.name}: {sentence(it.trouble, e)}
        </span>
      ) : (
        <span className="cut">{w.sending(it.name, Math.floor(it.part * 100))}</span>
      )}
      <span />
      <button
        type="button"
        className="btn ghost icon sm"
        aria-label={w.stop(it.name)}
        onClick={() => {
          it.stop();
          close();
        }}
      >
        <Icon name="x" />
      </button>
    </div>
  );
}
