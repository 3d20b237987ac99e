// How a call stands: it will run, runs, is done, failed, was refused, was stopped, or nobody knows.
import type { Step } from '../talk/turns';

export type CallStep = Extract<Step, { kind: 'call' }>;
export type Outcome = 'will' | 'live' | 'done' | 'bad' | 'refused' | 'notAllowed' | 'stopped' | 'maybe';

/** The text of a result. */
export function resultOf(step: CallStep): string {
  const content = step.result?.content;
  if (content === undefined) return '';
  if (typeof content === 'string') return content;
  return content.map((p) => (typeof p === 'string' ? p : (p.text ?? ''))).join('\n');
}

/** The exit code that a command ended with, where it is not 0. */
export const exitOf = (step: CallStep): string =>
  /\nExit Code: (\d+)\s*(?:\n|$)/.exec(`\n${resultOf(step)}`)?.[1] ?? '';

/** The file that the server has put an output into that was too long for the model. */
export const wholeOf = (text: string): string => /^\[Full .* output saved to (\S+) \(\d+ chars/.exec(text)?.[1] ?? '';

/** Whether nobody knows if a call happened: the server says so of one that a crash cut off. */
export const isUnknown = (step: Step): boolean =>
  step.kind === 'call' && step.result?.additional_kwargs?.['outcome_unknown'] === true;

/** How a call stands; whether its run is under way tells what a call without a result is. */
export function outcomeOf(step: CallStep, active: boolean): Outcome {
  const text = resultOf(step);
  if (step.asked) return 'will';
  if (!step.result && !step.live?.ended) {
    if (!active) return 'stopped';
    return step.live?.began || step.open ? 'live' : 'will';
  }
  if (isUnknown(step)) return 'maybe';
  if (/^This call was (cancelled before it finished|not executed)/.test(text)) return 'stopped';
  if (/^The user did not allow this call/.test(text)) return 'refused';
  if (/^Guardrail denied/.test(text)) return 'notAllowed';
  const meta = step.result?.additional_kwargs?.['deerflow_tool_meta'] as { status?: string } | undefined;
  if (step.live?.failed || step.result?.status === 'error' || meta?.status === 'error' || exitOf(step)) return 'bad';
  return 'done';
}

/** What a person who refused a call, or the rule that did, says about it. */
export function refusalOf(step: CallStep): string {
  const text = resultOf(step);
  return /They say: ([\s\S]*)$/.exec(text)?.[1]?.trim() ?? /Reason: ([^\n]*?)\. Choose/.exec(text)?.[1] ?? '';
}

/** Why it failed, for the closed line: the exit code or the first words of the error. */
export function reasonOf(step: CallStep): string {
  const text = resultOf(step).replace(/^Error:\s*/i, '');
  const status = /\b([45]\d\d)\b/.exec(text.slice(0, 200))?.[1];
  if (step.call.name.startsWith('web_') && status) return status;
  const line = text.split('\n')[0] ?? '';
  return line.length > 60 ? `${line.slice(0, 57)}…` : line;
}
