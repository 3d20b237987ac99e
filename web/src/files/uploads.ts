// Files on their way to a task, by the place of the composer that they were added at. A new task has its id from the
// first file on; what is there already is kept over a reload, beside the draft.
import { useSyncExternalStore } from 'react';
import { api, fill, Trouble } from '../lib/api/client';
import { type Moving, upload } from '../lib/api/upload';
import { uuid } from '../lib/ids';
import { whole } from './data';

/** A file that a message comes with. */
export interface Sent {
  filename: string;
  size: number;
  path: string;
  status: 'uploaded';
}

/** A file that was added. */
export interface Upload {
  id: string;
  name: string;
  size: number;
  state: 'waits' | 'sending' | 'there' | 'refused';
  /** How much of it is there, from 0 to 1. */
  part: number;
  /** Why it was refused: too large for the server, no server, or what that says. */
  why?: { kind: 'large'; limit: number } | { kind: 'lost' } | { kind: 'said'; text: string };
  sent?: Sent;
}

/** How many are sent at once. */
const mostAtOnce = 3;

/** Whether a place begins tasks: the start page, or the page of a folder. */
const isNew = (place: string): boolean => place === '' || place.startsWith('folder.');

export class Uploads {
  private list: readonly Upload[] = [];
  private readonly files = new Map<string, File>();
  private readonly requests = new Map<string, Moving>();
  private readonly listeners = new Set<() => void>();
  /** What was taken away before the task was there: it is removed when it is. */
  private orphans: string[] = [];
  private limit: Promise<number> | undefined;
  thread: string;

  constructor(private readonly place: string) {
    const kept = read(place);
    this.thread = isNew(place) ? kept.thread || uuid() : place;
    this.list = kept.list;
    this.orphans = kept.orphans ?? [];
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly now = (): readonly Upload[] => this.list;

  private show(list: readonly Upload[]): void {
    this.list = list;
    keep(this.place, { thread: this.thread, list: list.filter((u) => u.state === 'there'), orphans: this.orphans });
    for (const tell of this.listeners) tell();
  }

  private change(id: string, some: Partial<Upload>): void {
    this.show(this.list.map((u) => (u.id === id ? { ...u, ...some } : u)));
  }

  /** Adds files, and begins to send them. */
  async add(files: Iterable<File>): Promise<void> {
    const added = [...files].map((file): Upload => {
      const id = uuid();
      this.files.set(id, file);
      return { id, name: file.name, size: file.size, state: 'waits', part: 0 };
    });
    this.show([...this.list, ...added]);
    const limit = await (this.limit ??= this.mostBytes());
    for (const u of added) if (u.size > limit) this.change(u.id, { state: 'refused', why: { kind: 'large', limit } });
    this.next();
  }

  private async mostBytes(): Promise<number> {
    try {
      return (await api('get', '/threads/{thread_id}/uploads/limits', { path: { thread_id: this.thread } }))
        .max_file_size;
    } catch {
      return Infinity; // then the server says it
    }
  }

  private next(): void {
    for (const u of this.list) {
      if (this.requests.size >= mostAtOnce) return;
      if (u.state === 'waits') this.send(u);
    }
  }

  private send(u: Upload): void {
    const file = this.files.get(u.id);
    if (!file) return;
    const path = fill('/threads/{thread_id}/uploads', { thread_id: this.thread });
    const request = upload(path, file, (part) => this.change(u.id, { part }));
    this.requests.set(u.id, request);
    this.change(u.id, { state: 'sending', part: 0 });
    const ends = (some: Partial<Upload>): void => {
      this.requests.delete(u.id);
      this.change(u.id, some);
      this.next();
    };
    request.done.then(thereOf).then(ends, (trouble: unknown) => ends({ state: 'refused', why: whyOf(trouble) }));
  }

  /** Sends a refused file once more. */
  again(id: string): void {
    this.change(id, { state: 'waits', part: 0 });
    this.next();
  }

  /** Takes a file away: it is not sent further, or removed from the task. */
  drop(id: string): void {
    const u = this.list.find((x) => x.id === id);
    this.requests.get(id)?.stop();
    this.requests.delete(id);
    this.files.delete(id);
    this.show(this.list.filter((x) => x.id !== id));
    const { sent } = u ?? {};
    if (sent) {
      this.remove(sent.filename).catch(() => {
        this.orphans.push(sent.filename);
        this.show(this.list);
      });
    }
    this.next();
  }

  private remove(filename: string): Promise<unknown> {
    return api('delete', '/threads/{thread_id}/uploads/{filename}', { path: { thread_id: this.thread, filename } });
  }

  /**
   * Gives what is there to a message, and begins anew. A new task exists from now on: what was taken away before goes
   * then.
   */
  take(): Sent[] {
    const sent = this.list.flatMap((u) => (u.sent ? [u.sent] : []));
    void this.bury();
    this.files.clear();
    if (isNew(this.place)) this.thread = uuid();
    this.show([]);
    return sent;
  }

  private async bury(): Promise<void> {
    const { orphans, thread } = this;
    this.orphans = [];
    if (orphans.length === 0) return;
    await api('post', '/threads', { body: { thread_id: thread, if_exists: 'do_nothing' } as never }).catch(() => {});
    for (const filename of orphans) {
      await api('delete', '/threads/{thread_id}/uploads/{filename}', { path: { thread_id: thread, filename } }).catch(
        () => {},
      );
    }
  }
}

const whyOf = (trouble: unknown): Upload['why'] =>
  trouble instanceof Trouble && trouble.status > 0 ? { kind: 'said', text: trouble.message } : { kind: 'lost' };

/** What an answer makes of a file. */
function thereOf(text: string): Partial<Upload> {
  const { files = [] } = JSON.parse(text) as { files?: { filename: string; size: number }[] };
  const file = files[0];
  if (!file) return { state: 'refused', why: { kind: 'said', text: '' } };
  const sent: Sent = {
    filename: file.filename,
    size: file.size,
    path: whole(`uploads/${file.filename}`),
    status: 'uploaded',
  };
  return { state: 'there', part: 1, name: file.filename, size: file.size, sent };
}

interface Kept {
  thread: string;
  list: Upload[];
  orphans?: string[];
}

const key = (place: string): string => `pudu.files.${place}`;

function read(place: string): Kept {
  try {
    return JSON.parse(localStorage.getItem(key(place)) ?? '') as Kept;
  } catch {
    return { thread: '', list: [] };
  }
}

function keep(place: string, kept: Kept): void {
  try {
    if (kept.list.length > 0 || kept.orphans?.length) localStorage.setItem(key(place), JSON.stringify(kept));
    else localStorage.removeItem(key(place));
  } catch {
    // a browser that keeps nothing: the page still has it
  }
}

const known = new Map<string, Uploads>();

/** The files of a composer. */
export function uploadsOf(place: string): Uploads {
  let it = known.get(place);
  if (!it) known.set(place, (it = new Uploads(place)));
  return it;
}

export const useUploads = (uploads: Uploads): readonly Upload[] => useSyncExternalStore(uploads.subscribe, uploads.now);
