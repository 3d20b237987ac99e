// What a page shows of a conversation.
import type { Steer } from './steers';
import { nothing, type Run, type Talk } from './talk';
import { isActive } from './turns';

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
  /** What was said to the run that is under way, as far as it is not known to be read. */
  steers: Steer[];
  /** Messages that did not get to the server, by their ids, and why. */
  unsent: Record<string, unknown>;
  /**
   * Another version than the thread's own is shown: the next message goes on from it, and nothing on it is answered
   * once more.
   */
  past: boolean;
  /** What somebody asked for and did not get. */
  failure?: unknown;
}

/** A conversation that is not loaded yet. */
export const unread: View = {
  talk: nothing,
  loading: true,
  older: false,
  connected: true,
  steers: [],
  unsent: {},
  past: false,
};

/** The view with the run that is under way: one that works before those that wait. */
export function shown({ active: _, ...view }: View): View {
  const runs = Object.values(view.talk.runs);
  const active = runs.find((r) => r.status === 'running') ?? runs.find(isActive);
  return active ? { ...view, active } : view;
}
