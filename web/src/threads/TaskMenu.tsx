// The menu of a task: the same at its line in every list and in its header.
import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useWords, wordsNow } from '../lib/i18n';
import { keyOf } from '../lib/keys';
import { go } from '../lib/router';
import { shell } from '../shell/words';
import { Icon } from '../ui/Icon';
import { type Item, Menu } from '../ui/Menu';
import { type Acts, exportTask, type Named, printTask, useActs } from './acts';
import type { Folder } from './folders';
import { type Place, rename } from './renaming';
import { foldersKey, isPinned } from './tasks';
import { threads as words } from './words';

export function TaskMenu({ task, place }: { task: Named; place: Place }): ReactNode {
  const w = useWords(words);
  const s = useWords(shell);
  const acts = useActs();
  const client = useQueryClient();
  return (
    <Menu
      className="btn ghost icon sm menu-button"
      label={w.more(task.title || s.untitled)}
      end
      items={() => itemsOf(task, place, acts, client)}
    >
      <Icon name="dots" />
    </Menu>
  );
}

function itemsOf(task: Named, place: Place, acts: Acts, client: QueryClient): Item[] {
  const w = wordsNow(words);
  const id = task.thread_id;
  const pinned = isPinned(task);
  return [
    { key: 'pin', label: pinned ? w.unpin : w.pin, icon: 'pin', choose: () => acts.pin(task) },
    { key: 'rename', label: w.rename, icon: 'edit', keys: keyOf('rename'), choose: () => rename(id, place) },
    {
      key: 'move',
      label: w.move,
      icon: 'folder',
      more: foldersFor(task, acts, client.getQueryData<Folder[]>(foldersKey) ?? []),
    },
    {
      key: 'archive',
      label: task.archived ? w.unarchive : w.archive,
      icon: 'archive',
      keys: keyOf('archive'),
      choose: () => void acts.archive(task),
    },
    {
      key: 'export',
      label: w.exportAs,
      icon: 'download',
      more: [
        { key: 'md', label: w.markdown, choose: () => exportTask(id, 'md') },
        { key: 'html', label: w.html, choose: () => exportTask(id, 'html') },
        { key: 'json', label: w.json, choose: () => exportTask(id, 'json') },
        { key: 'print', label: w.print, rule: true, choose: () => printTask(id) },
      ],
    },
    { key: 'remove', label: w.remove, icon: 'trash', danger: true, rule: true, choose: () => void acts.remove(task) },
  ];
}

function foldersFor(task: Named, acts: Acts, folders: Folder[]): Item[] {
  const w = wordsNow(words);
  const within = folders.find((f) => f.folder_id === task.folder_id);
  return [
    ...folders.map((f) => ({
      key: f.folder_id,
      label: f.name,
      on: f === within,
      choose: () => void acts.move(task, f),
    })),
    { key: 'none', label: w.noFolder, on: !within, rule: folders.length > 0, choose: () => void acts.move(task, null) },
    { key: 'new', label: w.newFolder, icon: 'plus', rule: true, choose: () => go('/c?make=folder') },
  ];
}
