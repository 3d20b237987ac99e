// The models of the server as admins see them, the providers, and what changes them.
import { type QueryClient, useQuery } from '@tanstack/react-query';
import { type Answer, api } from '../lib/api/client';
import type { Entry } from './probe';

export type List = Answer<'/config/models', 'get'>;
export type Listed = NonNullable<List['models']>[number];
type Providers = Answer<'/config/providers', 'get'>;
export type Provider = NonNullable<Providers['providers']>[number];

export const listKey = ['config-models'] as const;
export const useList = () => useQuery({ queryKey: listKey, queryFn: () => api('get', '/config/models') });
export const useProviders = () =>
  useQuery({ queryKey: ['providers'], queryFn: () => api('get', '/config/providers'), staleTime: 60_000 });

/** What there is of models is asked for anew. */
export async function modelsChanged(client: QueryClient): Promise<void> {
  await Promise.all([listKey, ['models'], ['info']].map((queryKey) => client.invalidateQueries({ queryKey })));
}

/** Adds a model, or changes it if it is there; gives its name. */
export async function store(entry: Entry, there: boolean, standard: boolean): Promise<string> {
  const { name, ...rest } = entry;
  if (there && name) return (await api('put', '/config/models/{name}', { path: { name }, body: rest })).name;
  return (await api('post', '/config/models', { body: { ...entry, default: standard } })).name;
}

/**
 * The ways to a model, in the order in which they are offered: what is on this machine, the usual vendor, the others,
 * one's own server.
 */
export type Way = 'ollama' | 'openai' | 'others' | 'server';

/** The providers of a way. */
export function providersOf(all: Provider[], way: Way): Provider[] {
  switch (way) {
    case 'ollama':
    case 'openai':
      return all.filter((p) => p.name === way);
    case 'others':
      return all.filter((p) => (p.needs_key || p.name === 'codex') && p.name !== 'openai');
    case 'server':
      return all
        .filter((p) => !p.needs_key && p.name !== 'codex')
        .sort((a, b) => Number(b.name === 'compatible') - Number(a.name === 'compatible'));
  }
}

/** What somebody fills in. */
export interface Values {
  way: string;
  provider: string;
  model: string;
  base_url: string;
  api_key: string;
  name: string;
  display_name: string;
  context_window: string;
  max_tokens: string;
}

export const empty: Values = {
  way: '',
  provider: '',
  model: '',
  base_url: '',
  api_key: '',
  name: '',
  display_name: '',
  context_window: '',
  max_tokens: '',
};

/** What a model that is there has of it; never its key. */
export function valuesOf(m: Listed): Values {
  const s = (m.settings ?? {}) as Record<string, unknown>;
  const text = (v: unknown): string => (v === undefined || v === null ? '' : String(v));
  return {
    ...empty,
    provider: m.provider,
    model: m.model,
    base_url: m.base_url,
    name: m.name,
    display_name: text(s['display_name']),
    context_window: text(s['context_window']),
    max_tokens: text(s['max_tokens']),
  };
}

/** The entry that was filled in, over the settings that the model has already. */
export function entryOf(v: Values, was?: Listed): Entry {
  const settings: Record<string, unknown> = { ...((was?.settings ?? {}) as Record<string, unknown>) };
  const put = (name: string, value: unknown, there: boolean): void => {
    if (there) settings[name] = value;
    else delete settings[name];
  };
  put('display_name', v.display_name.trim(), v.display_name.trim() !== '');
  for (const name of ['context_window', 'max_tokens'] as const) put(name, Number(v[name]), v[name].trim() !== '');
  const given = { name: was ? was.name : v.name.trim(), base_url: v.base_url.trim(), api_key: v.api_key.trim() };
  return {
    provider: v.provider,
    model: v.model.trim(),
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== '')),
    ...(Object.keys(settings).length > 0 || was ? { settings } : {}),
  };
}
