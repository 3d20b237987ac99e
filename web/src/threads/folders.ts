// The folders of the user.
import { useQuery } from '@tanstack/react-query';
import { type Answer, api } from '../lib/api/client';
import { foldersKey } from './tasks';

export type Folder = Answer<'/folders/{folder_id}', 'get'>;

/** The folders, by name. */
export const useFolders = () =>
  useQuery({
    queryKey: foldersKey,
    queryFn: async () => (await api('get', '/folders', { query: { limit: 1000 } })) ?? [],
    staleTime: Infinity,
  });

/** Makes a folder. */
export const makeFolder = (name: string): Promise<Folder> => api('post', '/folders', { body: { name } });

/** Puts a task into a folder, or takes it out of the one that it is in. */
export async function moveTo(thread: string, folder: string | null, from?: string): Promise<void> {
  if (folder)
    await api('put', '/folders/{folder_id}/threads/{thread_id}', { path: { folder_id: folder, thread_id: thread } });
  else if (from)
    await api('delete', '/folders/{folder_id}/threads/{thread_id}', { path: { folder_id: from, thread_id: thread } });
}
