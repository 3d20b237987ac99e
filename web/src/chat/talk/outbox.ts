// What was said and is not at the server yet: kept in the browser until it is. It outlives a reload, and goes out from
// whichever tab can send it first; the id of the message makes a second time harmless.
import { api, Trouble } from '../../lib/api/client';
import { moveTo } from '../../threads/folders';
import { heldOf, release } from '../secrets/held';
import { type Options, requestOf, type RunRow, startRun } from './requests';

/** A message on its way. */
export interface Letter {
  id: string;
  thread: string;
  text: string;
  options: Options;
  at: number;
  /** The branch that it goes on from, if that is not the thread's own. */
  checkpoint?: string;
  /** Its run is to have the files as they were there. */
  then?: boolean;
  /** It is said to the run that is under way, which reads it before its next step. */
  steer?: boolean;
  /**
   * It has secrets, which are not kept: it goes out from the page that holds them, and after that only as somebody
   * types them again.
   */
  bare?: boolean;
  /** The server refused it: it waits for somebody to look at it. */
  refused?: boolean;
}

/** That a message cannot go out because its secrets are gone. */
export class Lost extends Trouble {
  constructor() {
    super(409, '');
  }
}

export const outboxKey = 'pudu.outbox';

/** How many are kept. */
const most = 100;

/** All letters, the oldest first. */
export function letters(): Letter[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(outboxKey) ?? '[]');
    return Array.isArray(kept) ? (kept as Letter[]) : [];
  } catch {
    return [];
  }
}

function write(list: Letter[]): void {
  try {
    if (list.length > 0) localStorage.setItem(outboxKey, JSON.stringify(list.slice(-most)));
    else localStorage.removeItem(outboxKey);
  } catch {
    // a browser that keeps nothing
  }
}

/** Keeps a letter until it is delivered. */
export const keep = (letter: Letter): void => write([...letters().filter((l) => l.id !== letter.id), letter]);

/** A letter is delivered, or taken back. */
export function forget(id: string): void {
  release(id);
  write(letters().filter((l) => l.id !== id));
}

/**
 * Forgets the letters of a thread that no page can send any more and that are at the server all the same, as after a
 * reload before its answer came, and gives their ids.
 */
export function arrived(thread: string, there: (id: string) => boolean): string[] {
  const ids = letters().flatMap((l) => (l.thread === thread && l.bare && !heldOf(l.id) && there(l.id) ? [l.id] : []));
  for (const id of ids) forget(id);
  return ids;
}

/** Whether a trouble passes by itself: no network, nobody signed in, a server that is busy or broken. */
export const passes = (trouble: unknown): boolean =>
  trouble instanceof Trouble &&
  (trouble.status === 0 || trouble.status === 401 || trouble.status === 429 || trouble.status >= 500);

/** Sends a letter, and gives its run. It is kept until the server has it; one that the server refuses waits. */
export async function deliver(letter: Letter): Promise<RunRow> {
  const secrets = heldOf(letter.id);
  keep(letter);
  if (letter.bare && !secrets) throw new Lost();
  try {
    await api('post', '/threads', { body: { thread_id: letter.thread, if_exists: 'do_nothing' } as never });
    if (letter.options.folder) await putInto(letter.thread, letter.options.folder);
    const request = {
      ...requestOf(letter.id, letter.text, letter.options),
      ...(letter.checkpoint ? { checkpoint: { checkpoint_id: letter.checkpoint } } : {}),
      ...(letter.steer ? { multitask_strategy: 'steer' } : {}),
      ...(letter.then ? { metadata: { replay_files: 'then' } } : {}),
    };
    const run = await startRun(letter.thread, request, secrets, letter.id);
    forget(letter.id);
    return run;
  } catch (trouble) {
    if (!passes(trouble)) keep({ ...letter, refused: true });
    throw letter.bare && !heldOf(letter.id) ? new Lost() : trouble; // the session has ended meanwhile
  }
}

/** Puts a new task into a folder; without one that is gone meanwhile the message goes out all the same. */
const putInto = (thread: string, folder: string): Promise<void> =>
  moveTo(thread, folder).catch((trouble: unknown) => {
    if (!(trouble instanceof Trouble && trouble.status === 404)) throw trouble;
  });

let sending: Promise<unknown> | undefined;

/**
 * Sends what waits for tasks that no page shows; those of a page it sends itself. Gives what kept it from sending all.
 */
export function sendRest(shown: (thread: string) => boolean): Promise<unknown> {
  return (sending ??= (async () => {
    for (const letter of letters()) {
      if (letter.refused || (letter.bare && !heldOf(letter.id)) || shown(letter.thread)) continue;
      try {
        await deliver(letter);
      } catch (trouble) {
        if (passes(trouble)) return trouble; // the others would not get there either
      }
    }
    return undefined;
  })().finally(() => (sending = undefined)));
}
