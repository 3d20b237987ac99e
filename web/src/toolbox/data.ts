// Where the toolbox stands at the server.
import { type QueryClient, useQuery } from '@tanstack/react-query';
import { type Answer, api } from '../lib/api/client';

export type Status = Answer<'/toolbox', 'get'>;

const key = ['toolbox'] as const;

/** How often it is asked while it is being installed, in milliseconds. */
const often = 1000;

export const useToolbox = () =>
  useQuery({
    queryKey: key,
    queryFn: () => api('get', '/toolbox'),
    refetchInterval: (q) => (q.state.data?.state === 'installing' ? often : false),
  });

/** Begins to install it. */
export async function install(client: QueryClient): Promise<void> {
  client.setQueryData<Status>(key, await api('post', '/toolbox'));
}

/** A size in words. */
export const megabytes = (bytes: number | undefined): string =>
  bytes ? `${Math.max(1, Math.round(bytes / 1e6))} MB` : '';
