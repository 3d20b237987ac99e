// Says of a task that it is in the bin, with the way back.
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useWords } from '../lib/i18n';
import { Icon } from '../ui/Icon';
import { useActs } from './acts';
import { listed, listsKey, useTask, useTasks } from './tasks';
import { threads } from './words';

export function InBin({ thread }: { thread: string }): ReactNode {
  const w = useWords(threads);
  const acts = useActs();
  const known = useTask(thread);
  const { data } = useTasks();
  const binned = useQuery({
    queryKey: [...listsKey, 'binned', thread],
    queryFn: () => listed({ ids: [thread], trashed: true }),
    enabled: !!data && !known,
  });
  if (known || !binned.data?.list.length) return null;
  return (
    <p className="note-line ask" role="status">
      <Icon name="trash" />
      <span className="grow">{w.inBin}</span>
      <button type="button" className="btn sm" onClick={() => void acts.restore(thread)}>
        {w.restore}
      </button>
    </p>
  );
}
