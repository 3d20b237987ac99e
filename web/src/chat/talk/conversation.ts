// The conversation of one thread: it is loaded, follows the run that is under way, sends, and stops. A page subscribes to it.
// What comes in a frame of the screen is drawn once.
import { api, Trouble } from '../../lib/api/client';
import { uuid } from '../../lib/ids';
import { type Batch, follow, type LogEvent } from '../../lib/stream/log';
import { type Row, textOf } from './message';
import { change, nothing, type PageRow, type Run, type Talk, withPage } from './talk';
import { isActive } from './turns';

/** What a run is started with, beside the words. */
export interface Options {
  model?: string;
  mode?: string;
  effort?: string;
  agent?: string;
}

/** A conversation as it is shown. */
export interface View {
  talk: Talk;
  /** The run that is under way. */
  active?: Run;
  loading: boolean;
  /** Older messages are there. */
  older: boolean;
  connected: boolean;
  /** What kept it from being loaded. */
  trouble?: unknown;
  /** Messages that did not get to the server, by their ids, and why. */
  unsent: Record<string, unknown>;
}

const pageSize = 60;

export class Conversation {
  private view: View = { talk: nothing, loading: true, older: false, connected: true, unsent: {} };
  private readonly listeners = new Set<() => void>();
  private readonly stopped = new AbortController();
  private following = '';
  private seq = 0;
  private waiting: { run: string; events: LogEvent[] }[] = [];
  private frame = 0;

  constructor(
    readonly thread: string,
    isNew: boolean,
  ) {
    if (isNew) this.view = { ...this.view, loading: false };
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly now = (): View => this.view;

  private show(some: Partial<View>): void {
    const view = { ...this.view, ...some };
    const active = Object.values(view.talk.runs).find((r) => r.status === 'running') ?? Object.values(view.talk.runs).find(isActive);
    delete view.active;
    this.view = active ? { ...view, active } : view;
    for (const tell of this.listeners) tell();
  }

  /** Ends all that it does. */
  close(): void {
    this.stopped.abort();
    cancelAnimationFrame(this.frame);
  }

  /** Loads the newest messages and the runs, and follows what is under way. */
  async load(): Promise<void> {
    const path = { thread_id: this.thread };
    try {
      const [page, runs] = await Promise.all([
        api('get', '/threads/{thread_id}/messages/page', { path, query: { limit: pageSize }, signal: this.stopped.signal }),
        this.runs(),
      ]);
      const read = page as unknown as { data: PageRow[]; has_more: boolean };
      this.seq = read.data[0]?.seq ?? 0;
      const talk = withPage(this.view.talk, read.data, true);
      this.show({ talk: { ...talk, runs }, loading: false, older: read.has_more });
      delete this.view.trouble;
      this.followActive();
    } catch (trouble) {
      if (!this.stopped.signal.aborted) this.show({ trouble, loading: false });
    }
  }

  /** Loads the messages before those that are there. */
  async more(): Promise<void> {
    const query = { limit: pageSize, before_seq: this.seq };
    const page = await api('get', '/threads/{thread_id}/messages/page', { path: { thread_id: this.thread }, query });
    const read = page as unknown as { data: PageRow[]; has_more: boolean };
    this.seq = read.data[0]?.seq ?? this.seq;
    this.show({ talk: withPage(this.view.talk, read.data, false), older: read.has_more });
  }

  private async runs(): Promise<Record<string, Run>> {
    const list = await api('get', '/threads/{thread_id}/runs', {
      path: { thread_id: this.thread },
      query: { limit: 100 },
      signal: this.stopped.signal,
    });
    const known = this.view.talk.runs;
    return Object.fromEntries((list ?? []).map((r) => [r.run_id, newer(known[r.run_id], runOf(r))]));
  }

  /** Looks which run is under way: the news told of a change. */
  async refresh(): Promise<void> {
    if (this.view.loading || this.following) return;
    try {
      const runs = await this.runs();
      this.show({ talk: { ...this.view.talk, runs } });
      this.followActive();
    } catch {
      // the next news say it again
    }
  }

  private followActive(): void {
    const run = this.view.active;
    if (run?.status === 'running') void this.follow(run.id);
  }

  private async follow(run: string): Promise<void> {
    if (this.following) return;
    this.following = run;
    try {
      await follow({
        thread: this.thread,
        run,
        signal: this.stopped.signal,
        batch: (b) => this.take(run, b),
        connected: (connected) => this.show({ connected }),
      });
    } catch (trouble) {
      this.show({ trouble });
    }
    this.following = '';
    if (this.stopped.signal.aborted) return;
    this.draw();
    await this.load();
  }

  private take(run: string, batch: Batch): void {
    this.waiting.push({ run, events: batch.events });
    if (!this.view.connected) this.show({ connected: true });
    // A page in the background is drawn nothing: it takes in what came when it has become much, or when it is looked at.
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.draw());
    if (document.hidden && this.waiting.length > 200) this.draw();
  }

  private draw(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    let { talk } = this.view;
    for (const { run, events } of this.waiting) talk = change(talk, run, events);
    this.waiting = [];
    if (talk !== this.view.talk) this.show({ talk });
  }

  /** Says something: it stands there at once, and goes to the server. */
  async say(text: string, options: Options): Promise<void> {
    const id = uuid();
    const row: Row = { message: { id, type: 'human', content: text }, run: '', at: Date.now(), open: true };
    this.show({ talk: { ...this.view.talk, rows: [...this.view.talk.rows, row] } });
    await this.post(id, text, options);
  }

  /** Sends a message, once however often it is tried. */
  async post(id: string, text: string, options: Options): Promise<void> {
    const { [id]: _, ...unsent } = this.view.unsent;
    this.show({ unsent });
    try {
      await api('post', '/threads', { body: { thread_id: this.thread, if_exists: 'do_nothing' } as never });
      const run = await api('post', '/threads/{thread_id}/runs', {
        path: { thread_id: this.thread },
        headers: { 'Idempotency-Key': id },
        body: requestOf(id, text, options) as never,
      });
      this.started(id, runOf(run as Parameters<typeof runOf>[0]));
    } catch (trouble) {
      this.show({ unsent: { ...this.view.unsent, [id]: trouble } });
    }
  }

  private started(message: string, run: Run): void {
    const rows = this.view.talk.rows.map((r) => (r.message.id === message && !r.run ? { ...r, run: run.id } : r));
    const runs = { ...this.view.talk.runs, [run.id]: newer(this.view.talk.runs[run.id], run) };
    this.show({ talk: { ...this.view.talk, rows, runs } });
    this.followActive();
  }

  /** Goes on after somebody has signed in: loads what is missing, sends what did not go out. */
  async resume(): Promise<void> {
    for (const id of Object.keys(this.view.unsent)) {
      const row = this.view.talk.rows.find((r) => r.message.id === id);
      if (row) await this.post(id, textOf(row.message), {});
    }
    await this.load();
  }

  /** Stops the run that is under way; what it has is kept. */
  async stop(): Promise<void> {
    const run = this.view.active;
    if (!run) return;
    const path = { thread_id: this.thread, run_id: run.id };
    await api('post', '/threads/{thread_id}/runs/{run_id}/cancel', { path }).catch((error: unknown) => {
      if (!(error instanceof Trouble && error.status === 409)) throw error; // it is over already
    });
  }
}

function requestOf(id: string, text: string, o: Options): object {
  const context = {
    ...(o.model ? { model_name: o.model } : {}),
    ...(o.mode ? modes[o.mode] : {}),
    ...(o.effort ? { reasoning_effort: o.effort } : {}),
    ...(o.agent ? { agent_name: o.agent } : {}),
  };
  return {
    assistant_id: 'lead_agent',
    input: { messages: [{ type: 'human', id, content: text }] },
    context,
    config: { recursion_limit: 1000 },
    multitask_strategy: 'enqueue',
    on_disconnect: 'continue',
  };
}

/** The ways of working, in the words that DeerFlow's client sends. */
const modes: Record<string, object> = {
  quick: { mode: 'flash', thinking_enabled: false, is_plan_mode: false, subagent_enabled: false },
  think: { mode: 'thinking', thinking_enabled: true, is_plan_mode: false, subagent_enabled: false },
  plan: { mode: 'pro', thinking_enabled: true, is_plan_mode: true, subagent_enabled: false },
};

interface RunRow {
  run_id: string;
  status: string;
  created_at: string;
  updated_at: string;
  total_tokens: number;
  stop_reason: string | null;
  error: string | null;
}

function runOf(r: RunRow): Run {
  const run: Run = { id: r.run_id, status: r.status, began: Date.parse(r.created_at), tokens: r.total_tokens };
  if (!isActive(run)) run.ended = Date.parse(r.updated_at);
  if (r.error) run.error = r.error;
  if (r.stop_reason) run.stopReason = r.stop_reason;
  return run;
}

/** Of what is known of a run and what was read: a run that is over does not go on. */
const newer = (known: Run | undefined, read: Run): Run => (known && !isActive(known) && isActive(read) ? known : read);
