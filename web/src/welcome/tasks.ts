// The tasks to start with, and the demonstration: each begins a thread of its own, with a sample file where it needs one.
import { conversationOf } from '../chat/talk/useConversation';
import type { Options } from '../chat/talk/requests';
import { send } from '../lib/api/client';
import { uuid } from '../lib/ids';
import { go } from '../lib/router';
import sales from './sales.csv?raw';

/** The model of the demonstration, which every server has. */
export const demo = 'demo';

/** Begins a task and goes to it. */
export async function begin(text: string, options: Options = {}, withSales = false): Promise<void> {
  const thread = uuid();
  if (withSales) {
    const form = new FormData();
    form.append('files', new File([sales], 'sales.csv', { type: 'text/csv' }));
    await send(`threads/${thread}/uploads`, { method: 'POST', body: form });
  }
  void conversationOf(thread, true).say(text, options);
  go(`/c/${thread}`);
}
