// What is said to the run at work and not read yet. It waits at the server, and can be taken back until the run has it.
import { api, Trouble } from '../../lib/api/client';
import type { Letter } from './outbox';
import type { Row } from './message';

/** A message that waits until the run reads it. */
export interface Steer {
  id: string;
  /** The id of the message. */
  message: string;
  text: string;
}

/** All that wait on a thread, in order. */
export async function steersOf(thread: string, signal: AbortSignal): Promise<Steer[]> {
  const list = await api('get', '/threads/{thread_id}/steers', { path: { thread_id: thread }, signal });
  return (list as unknown as { steer_id: string; messages: { id?: string; content?: unknown }[] }[]).map((s) => {
    const said = s.messages.at(-1);
    return { id: s.steer_id, message: said?.id ?? '', text: typeof said?.content === 'string' ? said.content : '' };
  });
}

/** Takes one back; false says that the run was faster. */
export async function takeBack(thread: string, steer: string): Promise<boolean> {
  try {
    await api('delete', '/threads/{thread_id}/steers/{steer_id}', { path: { thread_id: thread, steer_id: steer } });
    return true;
  } catch (trouble) {
    if (trouble instanceof Trouble && (trouble.status === 404 || trouble.status === 409)) return false;
    throw trouble;
  }
}

/** Those that stand in the conversation by now are read. */
export const unread = (steers: Steer[], rows: Row[]): Steer[] =>
  steers.length === 0 ? steers : steers.filter((s) => !rows.some((r) => r.message.id === s.message && !r.open));

/** A message on its way, as it stands in the conversation. */
export const rowOf = ({ id, text, options, at }: Letter): Row => ({
  message: {
    id,
    type: 'human',
    content: text,
    ...(options.files ? { additional_kwargs: { files: options.files } } : {}),
  },
  run: '',
  at,
  open: true,
});
