// A folder: a new task in it, its instructions, its files, its tasks.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Chips } from '../chat/composer/Chips';
import { Composer } from '../chat/composer/Composer';
import { keepOptions, useOptions } from '../chat/composer/options';
import type { Secrets } from '../chat/secrets/held';
import { conversationOf } from '../chat/talk/useConversation';
import type { Sent } from '../files/uploads';
import { api, Trouble } from '../lib/api/client';
import { useWords } from '../lib/i18n';
import { go, Link, useQueryOf } from '../lib/router';
import { failed } from '../shell/Failure';
import { Shell } from '../shell/Shell';
import { Icon } from '../ui/Icon';
import { Menu } from '../ui/Menu';
import { Notice } from '../ui/Notice';
import { askSure, Sure } from '../ui/Sure';
import { FolderFiles } from './FolderFiles';
import type { Folder } from './folders';
import { folderWords } from './folderWords';
import { Instructions } from './Instructions';
import { Broken, ByDay } from './Lists';
import { foldersKey } from './tasks';

export default function FolderPage({ folder }: { folder: string }): ReactNode {
  const w = useWords(folderWords);
  const client = useQueryClient();
  const sure = useQueryOf().get('sure');
  const [naming, setNaming] = useState(false);
  const { data, error, refetch } = useQuery({
    queryKey: [...foldersKey, folder],
    queryFn: () => api('get', '/folders/{folder_id}', { path: { folder_id: folder } }),
  });
  useEffect(() => {
    if (data) document.title = `${data.name} · Pudu`;
  }, [data]);
  const change = async (some: { name?: string; instructions?: string }): Promise<void> => {
    const changed = await api('patch', '/folders/{folder_id}', { path: { folder_id: folder }, body: some });
    client.setQueryData([...foldersKey, folder], changed);
    void client.invalidateQueries({ queryKey: foldersKey });
  };
  const remove = async (): Promise<void> => {
    try {
      await api('delete', '/folders/{folder_id}', { path: { folder_id: folder } });
      go('/c', true);
    } catch (trouble) {
      failed(trouble);
    }
    void client.invalidateQueries({ queryKey: foldersKey });
  };
  const missing = error instanceof Trouble && error.status === 404;
  return (
    <Shell
      header={
        <div className="title">
          <Icon name="folder" />
          {naming && data ? (
            <Name folder={data} keep={(name) => void change({ name }).catch(failed)} end={() => setNaming(false)} />
          ) : (
            <h1>{data?.name ?? ''}</h1>
          )}
          <span className="grow" />
          {data && (
            <Menu
              className="btn ghost icon sm"
              label={w.more}
              end
              items={[
                { key: 'rename', label: w.rename, icon: 'edit', choose: () => setNaming(true) },
                {
                  key: 'remove',
                  label: w.remove,
                  icon: 'trash',
                  danger: true,
                  rule: true,
                  choose: () => askSure('folder'),
                },
              ]}
            >
              <Icon name="dots" />
            </Menu>
          )}
        </div>
      }
    >
      <div className="scroll">
        <div className="page tasks">
          {missing ? (
            <Notice icon="folder" text={w.gone}>
              <Link className="btn primary" to="/c">
                {w.allTasks}
              </Link>
            </Notice>
          ) : error ? (
            <Broken trouble={error} again={() => void refetch()} />
          ) : (
            data && (
              <>
                <Begin folder={folder} />
                <Instructions key={folder} folder={data} save={(instructions) => change({ instructions })} />
                <FolderFiles folder={folder} />
                <section className="grid gap-2" aria-label={w.tasks}>
                  <h2 className="label">{w.tasks}</h2>
                  <ByDay archived={false} folder={folder} none={w.noTasks} />
                </section>
              </>
            )
          )}
        </div>
      </div>
      {data && sure === 'folder' && (
        <Sure title={w.sureFolder(data.name)} text={w.sureFolderText} act={w.remove} go={() => void remove()} />
      )}
    </Shell>
  );
}

/** Begins a task in the folder. */
function Begin({ folder }: { folder: string }): ReactNode {
  const w = useWords(folderWords);
  const place = `folder.${folder}`;
  const [options, setOptions] = useOptions(place);
  const start = (text: string, files: Sent[], thread: string, _: boolean, secrets?: Secrets): void => {
    keepOptions(thread, options);
    void conversationOf(thread, true).say(
      text,
      { ...options, folder, ...(files.length > 0 ? { files } : {}) },
      false,
      secrets,
    );
    go(`/c/${thread}`);
  };
  return (
    <Composer place={place} rows={2} placeholder={w.newTask} label={w.newTask} running={false} send={start}>
      <Chips options={options} change={setOptions} />
    </Composer>
  );
}

function Name({ folder, keep, end }: { folder: Folder; keep: (name: string) => void; end: () => void }): ReactNode {
  const w = useWords(folderWords);
  const over = useRef(false);
  const close = (name: string): void => {
    if (over.current) return;
    over.current = true;
    if (name.trim() && name.trim() !== folder.name) keep(name.trim());
    end();
  };
  return (
    <input
      className="in retitle"
      aria-label={w.name}
      defaultValue={folder.name}
      maxLength={60}
      autoFocus
      onFocus={(e) => e.currentTarget.select()}
      onBlur={(e) => close(e.currentTarget.value)}
      onKeyDown={(e) => {
        if (e.nativeEvent.isComposing) return;
        if (e.key === 'Enter') close(e.currentTarget.value);
        if (e.key === 'Escape') close('');
      }}
    />
  );
}
