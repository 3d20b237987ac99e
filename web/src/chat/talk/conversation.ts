// The conversation of one thread: it is loaded, follows the run that is under way, sends, and stops. A page subscribes
// to it. What comes in a frame of the screen is drawn once.
import { api, Trouble } from '../../lib/api/client';
import { uuid } from '../../lib/ids';
import { type Batch, follow } from '../../lib/stream/log';
import { heldOf, hold, type Secrets } from '../secrets/held';
import { arrived, deliver, forget, type Letter, letters, Lost, passes } from './outbox';
import { readThread } from './reading';
import {
  type Arrival,
  cameLate,
  cancelRun,
  endedUnheard,
  newer,
  type Options,
  requestOf,
  runOf,
  type RunRequest,
  runsOf,
  startRun,
  waitingOf,
} from './requests';
import { rowOf, type Steer, takeBack } from './steers';
import { type Heard, type PageRow, type Run, type Talk, taken, unwritten, withPage } from './talk';
import { branchFrom, cut, placeOf, prepare } from './versions';
import { shown, unread, type View } from './view';

const pageSize = 60;

export class Conversation {
  private view: View = unread;
  private readonly listeners = new Set<() => void>();
  private readonly stopped = new AbortController();
  private following = '';
  private seq = 0;
  private waiting: Heard[] = [];
  private frame = 0;
  /** The end of the branch that is shown, if it is not the thread's own. */
  private checkpoint = '';
  /** The next run is to have the files as they were there. */
  private then = false;
  private loads = 0;
  private looks = 0;
  private readonly detailed = new Set<string>();

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
    this.view = shown({ ...this.view, ...some, past: this.checkpoint !== '' });
    for (const tell of this.listeners) tell();
  }

  private showTalk(some: Partial<Talk>): void {
    this.show({ talk: { ...this.view.talk, ...some } });
  }

  /** Does what somebody asked for; what kept it from being done is shown. */
  private async trying<T, E>(work: () => Promise<T>, otherwise: E): Promise<T | E> {
    try {
      return await work();
    } catch (failure) {
      this.show({ failure });
      return otherwise;
    }
  }

  /** Ends all that it does. */
  close(): void {
    this.stopped.abort();
    cancelAnimationFrame(this.frame);
  }

  /** Loads the newest messages and the runs, and follows what is under way. */
  async load(): Promise<void> {
    await this.restore();
    const load = ++this.loads;
    try {
      const read = await readThread(this.thread, this.page(), () => this.view.talk.runs, this.stopped.signal);
      if (load !== this.loads) return; // another place was asked for meanwhile
      const { runs, steers } = read;
      this.seq = read.data[0]?.seq ?? 0;
      const anew = this.view.talk.asked.length > 0 && endedUnheard(runs, this.view.talk.runs);
      const talk = withPage(this.checkpoint ? { ...this.view.talk, rows: [] } : this.view.talk, read.data, true);
      const there = new Set(read.data.map((r) => (r.content as { id?: string }).id));
      const came = arrived(this.thread, (id) => there.has(id) || Object.values(runs).some((r) => r.says?.id === id));
      const unsent = Object.fromEntries(
        Object.entries(this.view.unsent).filter(([id]) => !there.has(id) && !came.includes(id)),
      );
      const rows = talk.rows.filter((r) => !r.open || there.has(r.message.id) || !came.includes(r.message.id));
      this.show({ talk: { ...talk, rows, runs }, steers, unsent, loading: false, older: read.has_more });
      delete this.view.trouble;
      this.followActive();
      if (anew) await this.questions(true);
    } catch (trouble) {
      if (!this.stopped.signal.aborted && load === this.loads) this.show({ trouble, loading: false });
    }
  }

  /**
   * Loads messages before those that are there until a message is among them; without one, all. False says that it is
   * in none.
   */
  async reach(message?: string): Promise<boolean> {
    const there = (): boolean => this.view.talk.rows.some((r) => r.message.id === message);
    while (!there() && this.view.older && !this.stopped.signal.aborted) await this.more(200);
    return there();
  }

  /**
   * Shows the task as it was at a checkpoint, which the next message goes on from, perhaps with the files of then;
   * empty is the present.
   */
  async goTo(checkpoint: string, then: boolean): Promise<void> {
    this.then = then;
    if (checkpoint === this.checkpoint) return;
    this.checkpoint = checkpoint;
    this.showTalk({ rows: [], asked: [] });
    await this.load();
  }

  /** Loads the messages before those that are there. */
  async more(limit = pageSize): Promise<void> {
    const query = { ...this.page(), limit, before_seq: this.seq };
    const page = await api('get', '/threads/{thread_id}/messages/page', { path: { thread_id: this.thread }, query });
    const read = page as unknown as { data: PageRow[]; has_more: boolean };
    this.seq = read.data[0]?.seq ?? this.seq;
    this.show({ talk: withPage(this.view.talk, read.data, false), older: read.has_more });
  }

  private page(): { limit: number; checkpoint_id?: string } {
    return { limit: pageSize, ...(this.checkpoint ? { checkpoint_id: this.checkpoint } : {}) };
  }

  /** Looks which run is under way: the news told of a change. */
  async refresh(): Promise<void> {
    // The log of a run tells of it while it is followed; what another one in the queue brings an answer to, only the
    // list of runs tells.
    if (this.view.loading || (this.following && this.view.talk.asked.length === 0)) return;
    const known = this.view.talk.runs;
    const [load, look] = [this.loads, ++this.looks];
    try {
      const runs = await runsOf(this.thread, () => this.view.talk.runs, this.stopped.signal);
      if (load !== this.loads || look !== this.looks) return; // what was asked for later knows more
      if (endedUnheard(runs, known) && !this.following) return await this.load();
      this.showTalk({ runs });
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
    this.showTalk({ rows: unwritten(this.view.talk.rows, run) });
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

  private take(run: string, batch: Batch, detail = false): void {
    this.waiting.push({ run, events: batch.events, detail });
    if (!this.view.connected) this.show({ connected: true });
    // A page in the background is drawn nothing: it takes in what came when it has become much, or when it is looked
    // at.
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.draw());
    if (document.hidden && this.waiting.length > 200) this.draw();
  }

  private draw(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    let { talk } = this.view;
    for (const told of this.waiting) talk = taken(talk, told, this.checkpoint !== '');
    this.waiting = [];
    if (talk !== this.view.talk) this.show({ talk });
  }

  /**
   * Says something: it stands there at once, and goes to the server. A run that is under way reads it before its next
   * step, unless it is to queue, or has secrets, which only a run of its own gets.
   */
  async say(text: string, options: Options, queue = false, secrets?: Secrets): Promise<void> {
    const where = this.checkpoint
      ? { checkpoint: this.checkpoint, then: this.then }
      : this.view.active && !queue && !secrets
        ? { steer: true }
        : {};
    const letter: Letter = {
      id: uuid(),
      thread: this.thread,
      text,
      options,
      at: Date.now(),
      ...where,
      ...(secrets ? { bare: true } : {}),
    };
    if (secrets) hold(letter.id, secrets);
    this.showTalk({ asked: [], rows: [...this.view.talk.rows, rowOf(letter)] });
    await this.post(letter);
  }

  /** Sends a message, once however often it is tried. */
  private async post(letter: Letter): Promise<void> {
    const { [letter.id]: _, ...unsent } = this.view.unsent;
    this.show({ unsent });
    try {
      const run = await deliver(letter);
      this.checkpoint = '';
      this.then = false;
      if (run.steer_id)
        this.show({ steers: [...this.view.steers, { id: run.steer_id, message: letter.id, text: letter.text }] });
      this.started(letter.id, runOf(run), !!run.steer_id);
    } catch (trouble) {
      this.show({ unsent: { ...this.view.unsent, [letter.id]: trouble } });
    }
  }

  /** Sends a message once more that did not get there. */
  async resend(id: string): Promise<void> {
    const letter = letters().find((l) => l.id === id);
    if (letter) return await this.post(letter);
    const { [id]: sent, ...unsent } = this.view.unsent; // by another tab
    this.show({ unsent });
    if (sent) await this.load();
  }

  /** Takes back a message that did not get there. */
  unsay(id: string): void {
    forget(id);
    const { [id]: _, ...unsent } = this.view.unsent;
    this.show({ unsent, talk: { ...this.view.talk, rows: this.view.talk.rows.filter((r) => r.message.id !== id) } });
  }

  /** Puts messages that did not get to the server before a reload into their places, and sends them. */
  private async restore(): Promise<void> {
    for (const letter of letters()) {
      if (letter.thread !== this.thread || this.view.talk.rows.some((r) => r.message.id === letter.id)) continue;
      this.showTalk({ rows: [...this.view.talk.rows, rowOf(letter)] });
      const lost = letter.bare && !heldOf(letter.id);
      if (lost || letter.refused)
        this.show({ unsent: { ...this.view.unsent, [letter.id]: lost ? new Lost() : new Trouble(409, '') } });
      else await this.post(letter);
    }
  }

  private started(message: string, run: Run, said: boolean): void {
    // What waits for another run, or is said to one, stands on the shelf; it comes into the conversation with its run.
    const queued = said || (run.status === 'pending' && !!this.view.active);
    const rows = this.view.talk.rows.flatMap((r) =>
      r.message.id !== message || r.run ? r : queued ? [] : { ...r, run: run.id },
    );
    this.showTalk({ rows, runs: { ...this.view.talk.runs, [run.id]: newer(this.view.talk.runs[run.id], run) } });
    this.followActive();
  }

  /** Goes on when the server is there again: what it could not be told goes out. */
  async back(): Promise<void> {
    for (const [id, trouble] of Object.entries(this.view.unsent)) {
      if (passes(trouble) && !(trouble instanceof Trouble && trouble.status === 401)) await this.resend(id);
    }
    if (this.view.trouble instanceof Trouble && this.view.trouble.status === 0) await this.load();
    else await this.refresh();
  }

  /** Goes on after somebody has signed in: loads what is missing, sends what did not go out. */
  async resume(): Promise<void> {
    for (const [id, trouble] of Object.entries(this.view.unsent)) if (passes(trouble)) await this.resend(id);
    await this.load();
  }

  /** Looks for the calls that wait: the news say that the thread waits for the user. */
  async questions(anew = false): Promise<void> {
    if (this.view.active || (!anew && this.view.talk.asked.length > 0)) return;
    try {
      const asked = await waitingOf(this.thread, this.stopped.signal);
      if (!this.view.active) this.showTalk({ asked });
    } catch {
      // the news say it again when the thread changes
    }
  }

  /** Answers what is asked, with the options of the run that asked; false says that it did not get to the server. */
  async answer(resume: unknown, secrets?: Secrets): Promise<Arrival> {
    const newest = Object.values(this.view.talk.runs).sort((a, b) => b.began - a.began)[0];
    const there = await this.begin(
      { command: { resume }, context: newest?.context ?? {}, multitask_strategy: 'enqueue' },
      secrets,
    );
    if (there !== true) await this.questions(true); // somebody may have answered elsewhere
    return there;
  }

  /** Starts a run that is not a new message of the user, and loads what it stands on. */
  private async begin(body: RunRequest, secrets?: Secrets): Promise<Arrival> {
    try {
      const row = await startRun(this.thread, body, secrets);
      this.checkpoint = '';
      const it = runOf(row);
      const asked = this.view.talk.asked.filter((a) => it.answers && !it.answers.includes(a.id));
      this.showTalk({ asked, runs: { ...this.view.talk.runs, [it.id]: it } });
      this.followActive();
      return cameLate(row) ? 'elsewhere' : true;
    } catch (trouble) {
      if (!(trouble instanceof Trouble && trouble.status === 401)) this.show({ failure: trouble });
      return false;
    }
  }

  /** Answers once more; with words, what stands in the place of a message of the user. Its branch begins before it. */
  async again(id: string, words: string | null, options: Options, secrets?: Secrets): Promise<Arrival> {
    return this.trying(async () => {
      const ready = await prepare(this.thread, id, words);
      this.showTalk({ rows: cut(this.view.talk.rows, id, words) });
      return await this.begin({ ...requestOf('', '', options), ...ready }, secrets);
    }, false);
  }

  /** Shows another version of a message: the branch that it is on, which the next run goes on from. */
  async version(id: string): Promise<void> {
    const checkpoint = await this.trying(() => placeOf(this.thread, id), '');
    if (!checkpoint) return;
    this.checkpoint = checkpoint;
    await this.load();
  }

  /** Begins a thread that goes on from an answer, and gives its id. */
  branch(message: string, title?: string): Promise<string | null> {
    return this.trying(() => branchFrom(this.thread, message, title), null);
  }

  /** Reads what happened in a run that is over: how long each call took. */
  async detail(run: string): Promise<void> {
    if (this.detailed.has(run)) return;
    this.detailed.add(run);
    const { signal } = this.stopped;
    await follow({ thread: this.thread, run, signal, batch: (b) => this.take(run, b, true) }).catch(() => {});
  }

  /** Takes a run out of the queue. */
  async drop(run: string): Promise<void> {
    await this.trying(async () => {
      await cancelRun(this.thread, run);
      const { [run]: _, ...runs } = this.view.talk.runs;
      this.showTalk({ runs, rows: this.view.talk.rows.filter((r) => !(r.open && r.run === run)) });
    }, undefined);
  }

  /** Takes back what the run has not read. */
  async unsteer(steer: Steer): Promise<void> {
    await this.trying(async () => {
      await takeBack(this.thread, steer.id);
      this.show({ steers: this.view.steers.filter((s) => s.id !== steer.id) });
    }, undefined);
  }

  /** The failure was read. */
  seen(): void {
    this.show({ failure: undefined });
  }

  /** Stops the run that is under way; what it has is kept. */
  async stop(): Promise<void> {
    const run = this.view.active;
    if (!run) return;
    await cancelRun(this.thread, run.id).catch((error: unknown) => {
      if (!(error instanceof Trouble && error.status === 409)) throw error; // it is over already
    });
  }
}
