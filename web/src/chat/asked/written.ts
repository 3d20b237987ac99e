// What was typed into the cards of questions: one that is asked again while another one is answered has it still, and
// so has one that was left for another page. Memory of the page alone; secrets are not among it.

export type Scope = 'once' | 'thread' | 'always';

/** What was typed into the card of one call. */
export interface Written {
  refusing: boolean;
  why: string;
  edited: string | null;
  scope: Scope;
}

const untouched: Written = { refusing: false, why: '', edited: null, scope: 'once' };

/**
 * Of how many questions it is kept at most: of tasks that nobody comes back to nobody says that theirs were answered.
 */
const most = 100;

const written = new Map<string, { thread: string; calls: Record<number, Written> }>();

/** What was typed for a call of a question. */
export const writtenOf = (question: string, call: number): Written => written.get(question)?.calls[call] ?? untouched;

/** Keeps it; the question that was typed for longest ago goes when they are too many. */
export function write(thread: string, question: string, call: number, what: Written): void {
  const calls = { ...written.get(question)?.calls, [call]: what };
  written.delete(question);
  written.set(question, { thread, calls });
  const oldest = written.size > most ? written.keys().next().value : undefined;
  if (oldest !== undefined) written.delete(oldest);
}

/** A question is answered. */
export const unwrite = (question: string): unknown => written.delete(question);

/**
 * Drops what was typed for questions of a thread that are no longer open, as they were answered elsewhere: open is all
 * that is.
 */
export function keepOpen(thread: string, open: { id: string }[]): void {
  for (const [question, of] of written)
    if (of.thread === thread && !open.some((a) => a.id === question)) written.delete(question);
}
