// The log of a run as the server keeps it: JSON lines, live until the run is at its end. A connection that breaks is
// made anew behind the last event that came, so nothing is missed and nothing comes twice.
import { fill, send, Trouble } from '../api/client';

/** An event of a run; its data is as event.go of the server has it. */
export interface LogEvent {
  id: string;
  time: string;
  kind: string;
  node?: string;
  ns?: string[];
  data: Record<string, unknown>;
}

/** The run as it ended: the last line of a log. */
export interface RunEnd {
  run_id: string;
  status: string;
  stop_reason?: string;
  error?: string;
  updated_at: string;
}

/** What a part of the log has: events, and at its end the run. */
export interface Batch {
  events: LogEvent[];
  end?: RunEnd;
}

/** Takes lines out of what comes in pieces. */
export class Lines {
  private rest = '';

  /** The lines that a piece completes. */
  push(piece: string): string[] {
    const lines = (this.rest + piece).split('\n');
    this.rest = lines.pop() ?? '';
    return lines.filter((line) => line !== '');
  }
}

/** Reads a line; what is no JSON is passed over. */
export function parse(lines: string[]): Batch {
  const out: Batch = { events: [] };
  for (const line of lines) {
    try {
      const read = JSON.parse(line) as LogEvent & { run?: RunEnd };
      if (read.run) out.end = read.run;
      else if (read.id) out.events.push(read);
    } catch {
      // a line of a version that this one does not know
    }
  }
  return out;
}

interface Following {
  thread: string;
  run: string;
  /** Id of the last event that is known already. */
  after?: string;
  signal: AbortSignal;
  batch: (b: Batch) => void;
  /** Told whether the server is there. */
  connected?: (there: boolean) => void;
}

const firstWait = 300;
const longestWait = 5000;

/** Follows a run to its end. It comes back until it is told to stop; only an answer that no time mends is an error. */
export async function follow(f: Following): Promise<void> {
  let { after } = f;
  let wait = firstWait;
  while (!f.signal.aborted) {
    try {
      const ended = await readOnce({ ...f, ...(after ? { after } : {}) }, (b) => {
        after = b.events.at(-1)?.id ?? after;
        wait = firstWait;
        f.batch(b);
      });
      if (ended) return;
    } catch (error) {
      if (f.signal.aborted) return;
      if (error instanceof Trouble && error.status >= 400 && error.status < 500 && error.status !== 429) throw error;
      f.connected?.(false);
    }
    await pause(wait, f.signal);
    wait = Math.min(wait * 2, longestWait);
  }
}

/** Reads a log until its end or until the connection breaks, and reports whether it was the end. */
async function readOnce(f: Following, batch: (b: Batch) => void): Promise<boolean> {
  const path = fill('/threads/{thread}/runs/{run}/log', f);
  const response = await send(f.after ? `${path}?after=${f.after}` : path, { signal: f.signal });
  f.connected?.(true);
  const reader = response.body?.getReader();
  if (!reader) return false;
  const decoder = new TextDecoder();
  const lines = new Lines();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return false;
    const read = parse(lines.push(decoder.decode(value, { stream: true })));
    if (read.events.length > 0 || read.end) batch(read);
    if (read.end) return true;
  }
}

/** Waits, or until the browser says that the network is back. */
function pause(millis: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const go = (): void => {
      clearTimeout(timer);
      removeEventListener('online', go);
      resolve();
    };
    const timer = setTimeout(go, millis);
    addEventListener('online', go);
    signal.addEventListener('abort', go, { once: true });
  });
}
