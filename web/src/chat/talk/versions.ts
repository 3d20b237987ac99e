// What the server is asked for the versions of messages: where one begins, where it stands, and a thread that goes on
// from one.
import { api } from '../../lib/api/client';
import type { Row } from './message';

/** What a run that answers once more is asked for with. */
interface Prepared {
  input: unknown;
  checkpoint: unknown;
  metadata: unknown;
}

/** Prepares the answer once more; with words, what stands in the place of a message of the user. */
export async function prepare(thread: string, id: string, words: string | null): Promise<Prepared> {
  const path = { thread_id: thread };
  const ready =
    words === null
      ? await api('post', '/threads/{thread_id}/runs/regenerate/prepare', {
          path,
          body: { message_id: id, any_turn: true } as never,
        })
      : await api('post', '/threads/{thread_id}/runs/edit-regenerate/prepare', {
          path,
          body: { human_message_id: id, replacement_text: words, any_turn: true } as never,
        });
  const { input, checkpoint, metadata } = ready as unknown as Prepared;
  return { input, checkpoint, metadata };
}

/** Rows without what stands behind the place where such a branch begins: it is another version now. */
export function cut(rows: Row[], id: string, words: string | null): Row[] {
  const at = rows.findIndex((r) => r.message.id === id);
  if (at < 0) return rows;
  const end = words === null ? rows.findLastIndex((r, i) => i <= at && r.message.type === 'human') + 1 : at;
  return rows.slice(0, end);
}

/** The checkpoint of the branch that a version of a message is on. */
export async function placeOf(thread: string, id: string): Promise<string | undefined> {
  const list = await api('get', '/threads/{thread_id}/messages/{message_id}/versions', {
    path: { thread_id: thread, message_id: id },
  });
  return (list as unknown as { data: { message_id: string; checkpoint_id: string }[] }).data.find(
    (v) => v.message_id === id,
  )?.checkpoint_id;
}

/** Begins a thread that goes on from an answer, and gives its id. */
export async function branchFrom(thread: string, message: string, title?: string): Promise<string> {
  const made = await api('post', '/threads/{thread_id}/branches', {
    path: { thread_id: thread },
    body: { message_id: message, ...(title ? { title } : {}) } as never,
  });
  return (made as unknown as { thread_id: string }).thread_id;
}
