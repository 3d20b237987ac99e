// Skills as the server has them, and what is done with them.
import { type QueryClient, useQuery } from '@tanstack/react-query';
import { type Answer, api, send } from '../lib/api/client';
import { skillList, skillsKey } from './list';

export type { Skill } from './list';
export { skillsKey } from './list';

export type Refused = NonNullable<Answer<'/skills/refused', 'get'>['refused']>[number];
export type Finding = NonNullable<Refused['findings']>[number];
export type FileOf = NonNullable<Answer<'/skills/files/{skill}', 'get'>['files']>[number];
export type Entry = NonNullable<Answer<'/skills/custom/{skill}/history', 'get'>['history']>[number];

export const useSkills = () => useQuery(skillList);
export const useRefused = () =>
  useQuery({
    queryKey: [...skillsKey, 'refused'],
    queryFn: async () => (await api('get', '/skills/refused')).refused ?? [],
  });

/** The files of a skill; only admins see them. */
export const useFilesOf = (skill: string, enabled: boolean) =>
  useQuery({
    queryKey: [...skillsKey, 'files', skill],
    queryFn: async () => (await api('get', '/skills/files/{skill}', { path: { skill } })).files ?? [],
    enabled,
  });

/** What the scan has found in one of the user's own. */
export const useText = (skill: string, enabled: boolean) =>
  useQuery({
    queryKey: [...skillsKey, 'text', skill],
    queryFn: () => api('get', '/skills/custom/{skill}', { path: { skill } }),
    enabled,
  });

export const useHistory = (skill: string, enabled: boolean) =>
  useQuery({
    queryKey: [...skillsKey, 'history', skill],
    queryFn: async () => (await api('get', '/skills/custom/{skill}/history', { path: { skill } })).history ?? [],
    enabled,
  });

/** Has all that is shown of skills read anew. */
export const again = (client: QueryClient): Promise<void> => client.invalidateQueries({ queryKey: skillsKey });

async function sent<T>(path: string, file: File): Promise<T> {
  const form = new FormData();
  form.append('file', file);
  return (await (
    await send(path, { method: 'POST', body: form, headers: { Accept: 'application/json' } })
  ).json()) as T;
}

export interface Scanned {
  name: string;
  description: string;
  findings: Finding[];
}

/** What an installation would find in an archive. */
export const scan = (file: File): Promise<Scanned> => sent('/skills/scan', file);

/** Installs an archive, and gives the skill's name. */
export const install = async (file: File): Promise<string> =>
  (await sent<{ skill_name: string }>('/skills/upload', file)).skill_name;

/** Findings that a refusal names. */
export const findingsOf = (detail: unknown): Finding[] => {
  const list = (detail as { findings?: unknown } | null | undefined)?.findings;
  return Array.isArray(list) ? (list as Finding[]) : [];
};

/** Makes a skill what it was before an entry of its history; the newest without one. */
export const goBack = (skill: string, index = -1): Promise<unknown> =>
  api('post', '/skills/custom/{skill}/rollback', { path: { skill }, body: { history_index: index } });
