// The folder that a new task is put into, as a chip of its composer. It stands in the address.
import type { ReactNode } from 'react';
import { useWords } from '../lib/i18n';
import { ask } from '../lib/router';
import { Icon } from '../ui/Icon';
import { Menu } from '../ui/Menu';
import { useFolders } from './folders';
import { threads } from './words';

export function FolderChip({ folder }: { folder: string }): ReactNode {
  const w = useWords(threads);
  const { data } = useFolders();
  if (!data?.length) return null;
  const choose = (id: string) => () => ask({ folder: id || null }, true);
  return (
    <Menu
      className="chip"
      title={w.folder}
      items={[
        ...data.map((f) => ({
          key: f.folder_id,
          label: f.name,
          on: f.folder_id === folder,
          choose: choose(f.folder_id),
        })),
        { key: 'none', label: w.noFolder, on: !folder, rule: true, choose: choose('') },
      ]}
    >
      <Icon name="folder" />
      <span className="cut">{data.find((f) => f.folder_id === folder)?.name ?? w.noFolder}</span>
      <Icon name="down" className="i car" />
    </Menu>
  );
}
