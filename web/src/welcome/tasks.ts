// The tasks to start with, and the demonstration: each begins a thread of its own, with a sample file where it needs
// one.
import { conversationOf } from '../chat/talk/useConversation';
import type { Options } from '../chat/talk/requests';
import { send } from '../lib/api/client';
import { uuid } from '../lib/ids';
import { go } from '../lib/router';
import type { IconName } from '../ui/Icon';
import notes from './notes.md?raw';
import sales from './sales.csv?raw';

/** The model of the demonstration, which every server has. */
export const demo = 'demo';

const samples = { 'sales.csv': [sales, 'text/csv'], 'notes.md': [notes, 'text/markdown'] } as const;

/** A task to start with; its words are those of its name. */
export interface Starter {
  name: 'sales' | 'table' | 'notes' | 'page';
  icon: IconName;
  file?: keyof typeof samples;
}

const table: Starter = { name: 'table', icon: 'table', file: 'sales.csv' };
const starters: Starter[] = [
  { name: 'sales', icon: 'chart', file: 'sales.csv' },
  { name: 'notes', icon: 'read', file: 'notes.md' },
  { name: 'page', icon: 'globe' },
];

/** The three tasks that work at once; where no command runs, without those that need one. */
export const startersFor = (code: boolean): Starter[] => (code ? starters : [table, ...starters.slice(1)]);

/** Begins a task and goes to it. */
export async function begin(text: string, options: Options = {}, file?: Starter['file']): Promise<void> {
  const thread = uuid();
  if (file) {
    const [content, type] = samples[file];
    const form = new FormData();
    form.append('files', new File([content], file, { type }));
    await send(`threads/${thread}/uploads`, { method: 'POST', body: form });
  }
  void conversationOf(thread, true).say(text, options);
  go(`/c/${thread}`);
}
