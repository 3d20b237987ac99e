// What is remembered, as the server has it, and what is done with it.
import { type QueryClient, useQuery } from '@tanstack/react-query';
import { type Answer, api } from '../lib/api/client';
import type { MemoryWords } from './words';

export type Fact = NonNullable<Answer<'/memory/facts', 'get'>['facts']>[number];
export type Story = Answer<'/memory/facts/{fact_id}', 'get'>;
export type Entry = NonNullable<Answer<'/memory/history', 'get'>['history']>[number];

export const memoryKey = ['memory'] as const;

/** More than a memory may have. */
const most = 1000;

/** All facts with a status. */
export const useFacts = (status: 'active' | 'proposed' | 'gone', enabled = true) =>
  useQuery({
    queryKey: [...memoryKey, 'facts', status],
    queryFn: async () => (await api('get', '/memory/facts', { query: { status, limit: most } })).facts ?? [],
    enabled,
  });

/** Facts that have words, the best first. */
export const useSearched = (q: string) =>
  useQuery({
    queryKey: [...memoryKey, 'search', q],
    queryFn: async ({ signal }) =>
      (await api('get', '/memory/facts', { query: { q, status: 'active', limit: 100 }, signal })).facts ?? [],
    enabled: q.trim() !== '',
    placeholderData: (before) => before,
  });

export const useStory = (id: string) =>
  useQuery({
    queryKey: [...memoryKey, 'story', id],
    queryFn: () => api('get', '/memory/facts/{fact_id}', { path: { fact_id: id } }),
  });

export const useMemoryConfig = () =>
  useQuery({ queryKey: [...memoryKey, 'config'], queryFn: () => api('get', '/memory/config'), staleTime: Infinity });

/** Has all that is shown of the memory read anew. */
export const again = (client: QueryClient): Promise<void> => client.invalidateQueries({ queryKey: memoryKey });

export const categories = [
  'preference',
  'correction',
  'context',
  'goal',
  'behavior',
  'identity',
  'constraint',
  'decision',
  'other',
] as const;

/** The category of a fact in words; one of its own name stands as it is. */
export function categoryOf(fact: Pick<Fact, 'category' | 'category_extension'>, w: MemoryWords): string {
  if (fact.category_extension) return fact.category_extension;
  const known = categories.find((c) => c === fact.category);
  return known ? w[known] : fact.category;
}

/** The kinds that facts stand below. */
export const kinds = ['you', 'work', 'learned'] as const;
export type Kind = (typeof kinds)[number];

const ofUser = ['preference', 'identity', 'behavior', 'constraint'];

export function kindOf(fact: Pick<Fact, 'category'>): Kind {
  if (fact.category === 'correction') return 'learned';
  return ofUser.includes(fact.category) ? 'you' : 'work';
}

/** For whom a fact is, as one text: all tasks (empty), those of an agent, those in a folder. */
export const scopeOf = (fact: Pick<Fact, 'agent' | 'folder_id'>): string =>
  fact.folder_id ? `folder:${fact.folder_id}` : fact.agent ? `agent:${fact.agent}` : '';

/** The members of a fact that a scope is. */
export function membersOf(scope: string): { agent?: string; folder_id?: string } {
  const [what, ...rest] = scope.split(':');
  if (what === 'agent') return { agent: rest.join(':') };
  return what === 'folder' ? { folder_id: rest.join(':') } : {};
}

/** A scope in words. */
export function scopeName(scope: string, folders: { folder_id: string; name: string }[], w: MemoryWords): string {
  const { agent, folder_id } = membersOf(scope);
  if (agent) return w.agentOnly(agent);
  if (folder_id) return w.folderOnly(folders.find((f) => f.folder_id === folder_id)?.name ?? w.goneFolder);
  return w.everyTask;
}

/** Where a fact comes from, in words. */
export function sourceOf(fact: Pick<Fact, 'source'>, w: MemoryWords): string {
  const known: Record<string, string> = {
    manual: w.manual,
    conversation: w.conversation,
    consolidation: w.consolidation,
    import: w.imported_,
  };
  return known[fact.source] ?? w.unknown;
}

/** Why a fact is not taken for the user's own words; empty for one that is. */
export function markOf(fact: Pick<Fact, 'mark'>, w: MemoryWords): string {
  const known: Record<string, string> = { tool: w.tool, pasted: w.pasted, assistant: w.assistant, unsaid: w.unsaid };
  return known[fact.mark] ?? fact.mark;
}

/** What happened, in words. */
export function actOf(entry: Pick<Entry, 'act'>, w: MemoryWords): string {
  const known: Record<string, string> = {
    added: w.actAdded,
    changed: w.actChanged,
    confirmed: w.actConfirmed,
    replaced: w.actReplaced,
    removed: w.actRemoved,
    evicted: w.actEvicted,
    proposed: w.actProposed,
    accepted: w.actAccepted,
    refused: w.actRefused,
    forgotten: w.actForgotten,
    imported: w.actImported,
    summary: w.actSummary,
    undone: w.actUndone,
    restored: w.actRestored,
    cleared: w.actCleared,
  };
  return known[entry.act] ?? entry.act;
}

/** How many facts a document has that Export has made, DeerFlow's too; null if it is none. */
export function factsIn(text: string): number | null {
  try {
    const read: unknown = JSON.parse(text);
    const facts = typeof read === 'object' && read !== null && 'facts' in read ? read.facts : undefined;
    return Array.isArray(facts) ? facts.length : null;
  } catch {
    return null;
  }
}
