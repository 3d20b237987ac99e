// The list of skills as the server has it: what a task needs of it too.
import { type Answer, api } from '../lib/api/client';

export type Skill = NonNullable<Answer<'/skills', 'get'>['skills']>[number];

export const skillsKey = ['skills'] as const;

/** How the list is read; without a network that fails, and does not wait for it. */
export const skillList = {
  queryKey: skillsKey,
  queryFn: async (): Promise<Skill[]> => (await api('get', '/skills')).skills ?? [],
  networkMode: 'always' as const,
};
