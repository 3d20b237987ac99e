// How each tool is spoken of: its icon, its verbs, and which of its arguments is its object.
import type { Words } from '../../lib/i18n';
import type { IconName } from '../../ui/Icon';
import type { ToolCall } from '../talk/message';
import type { trail } from './words';

type Verb = keyof (typeof trail extends Words<infer T> ? T : never);

interface Tool {
  icon: IconName;
  /** Verbs: while it runs, when it is done, when it failed. */
  verbs: [Verb, Verb, Verb];
  /** Arguments, of which the first that is there is the object; text is set as words instead of as code. */
  object: string[];
  words?: boolean;
}

const tools: Record<string, Tool> = {
  bash: { icon: 'bash', verbs: ['running', 'ran', 'ran'], object: ['command'] },
  read_file: { icon: 'read', verbs: ['reading', 'read', 'noRead'], object: ['path'] },
  view_image: { icon: 'image', verbs: ['looking', 'looked', 'noRead'], object: ['image_path', 'path'] },
  write_file: { icon: 'edit', verbs: ['writing', 'wrote', 'noWrite'], object: ['path'] },
  str_replace: { icon: 'edit', verbs: ['changing', 'changed', 'noChange'], object: ['path'] },
  ls: { icon: 'folder', verbs: ['listing', 'listed', 'noList'], object: ['path'] },
  glob: { icon: 'folder', verbs: ['searching', 'searched', 'noSearch'], object: ['pattern'] },
  grep: { icon: 'search', verbs: ['searching', 'searched', 'noSearch'], object: ['pattern'] },
  list_uploaded_files: { icon: 'clip', verbs: ['listing', 'listed', 'noList'], object: [] },
  web_search: { icon: 'search', verbs: ['searching', 'searched', 'noSearch'], object: ['query'], words: true },
  image_search: { icon: 'image', verbs: ['searching', 'searched', 'noSearch'], object: ['query'], words: true },
  web_fetch: { icon: 'globe', verbs: ['fetching', 'fetched', 'noFetch'], object: ['url'] },
  write_todos: { icon: 'plan', verbs: ['planning', 'planned', 'noUse'], object: [] },
  present_files: { icon: 'file', verbs: ['presenting', 'presented', 'noUse'], object: ['filepaths', 'paths'] },
  ask_clarification: { icon: 'ask', verbs: ['asking', 'asked', 'asked'], object: ['question'], words: true },
  task: { icon: 'fork', verbs: ['delegating', 'delegated', 'noUse'], object: ['description', 'prompt'], words: true },
};

const other: Tool = { icon: 'plug', verbs: ['using', 'used', 'noUse'], object: [] };

export const toolOf = (name: string): Tool => tools[name] ?? other;

/** What a call is about, as a line. */
export function objectOf(call: ToolCall): string {
  const tool = toolOf(call.name);
  for (const name of tool.object) {
    const value = call.args[name];
    if (typeof value === 'string' && value) return short(name === 'command' ? (value.split('\n')[0] ?? '') : value);
    if (Array.isArray(value)) return value.map((v) => short(String(v))).join(', ');
  }
  return tool === other ? call.name : '';
}

/** A path as a person knows it: without where the sandbox has the files of a task. */
export const short = (text: string): string => text.replaceAll('/mnt/user-data/', '');
