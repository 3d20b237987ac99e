// A user's own agents, and what a form has of one.
import { useQuery } from '@tanstack/react-query';
import { type Answer, api, Trouble } from '../lib/api/client';

export type Agent = NonNullable<Answer<'/agents', 'get'>['agents']>[number];

export const agentsKey = ['agents'] as const;
export const useAgents = () => useQuery({ queryKey: agentsKey, queryFn: () => api('get', '/agents') });

/** The groups of tools that an agent can be left. */
export const groups = ['file:read', 'file:write', 'bash'] as const;

/** A group in words; one that is not known stands as it is. */
export const toolName = (group: string, w: { read: string; write: string; bash: string }): string =>
  ({ 'file:read': w.read, 'file:write': w.write, bash: w.bash })[group] ?? group;

export interface Values {
  name: string;
  description: string;
  model: string;
  soul: string;
  /** Empty, on or off. */
  thinking: string;
  effort: string;
  /** The groups it has, in one text; empty is all, "-" none. */
  tools: string;
  /** The skills it may use, likewise. */
  skills: string;
  temperature: string;
  max_tokens: string;
}

export const blank: Values = {
  name: '',
  description: '',
  model: '',
  soul: '',
  thinking: '',
  effort: '',
  tools: '',
  skills: '',
  temperature: '',
  max_tokens: '',
};

/** What the form has of an agent. */
export function valuesOf(a: Agent): Values {
  const number = (n: number | null | undefined): string => (n === null || n === undefined ? '' : String(n));
  return {
    name: a.name,
    description: a.description,
    model: a.model ?? '',
    soul: a.soul,
    thinking: a.thinking_enabled === null ? '' : a.thinking_enabled ? 'on' : 'off',
    effort: a.reasoning_effort ?? '',
    tools: textOf(a.tool_groups),
    skills: textOf(a.skills),
    temperature: number(a.model_settings?.temperature),
    max_tokens: number(a.model_settings?.max_tokens),
  };
}

/** The groups or skills that a form has; null is all. */
export const toolsOf = (text: string): string[] | null => (text === '' ? null : text === '-' ? [] : text.split(' '));
/** As it stands in the form. */
export const textOf = (tools: string[] | null): string => (tools === null ? '' : tools.join(' ') || '-');

const number = (text: string): number | null => (text.trim() === '' ? null : Number(text));

/** Whether a field is empty or a number between two others. */
export const between = (text: string, least: number, most: number, whole = false): boolean => {
  const n = number(text);
  return n === null || (n >= least && n <= most && (!whole || Number.isInteger(n)));
};

/** What the route is sent: everything that the form has, with null for what is left open. */
function bodyOf(v: Values): object {
  const settings = { temperature: number(v.temperature), max_tokens: number(v.max_tokens) };
  return {
    description: v.description.trim(),
    model: v.model || null,
    soul: v.soul,
    thinking_enabled: v.thinking === '' ? null : v.thinking === 'on',
    reasoning_effort: v.effort || null,
    tool_groups: toolsOf(v.tools),
    skills: toolsOf(v.skills),
    model_settings: settings.temperature === null && settings.max_tokens === null ? null : settings,
  };
}

/** Makes an agent, or changes the one that is there. */
export function save(v: Values, there: boolean): Promise<Agent> {
  if (there) return api('put', '/agents/{agent}', { path: { agent: v.name }, body: bodyOf(v) }) as Promise<Agent>;
  return api('post', '/agents', { body: { name: v.name.trim(), ...bodyOf(v) } }) as Promise<Agent>;
}

/** Whether the name is one that an agent can have. */
export const fits = (name: string): boolean => /^[A-Za-z0-9-]+$/.test(name);

/** Whether a name is free; true also if the server does not say, which then says it when the agent is made. */
export async function free(name: string, signal: AbortSignal): Promise<boolean> {
  try {
    return (await api('get', '/agents/check', { query: { name }, signal })).available;
  } catch (error) {
    if (error instanceof Trouble) return true;
    throw error;
  }
}
