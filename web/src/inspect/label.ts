// What a step is called, in words.
import { lasted, thousands } from '../lib/i18n';
import { textOf } from '../chat/talk/message';
import { objectOf, toolOf } from '../chat/trail/tools';
import type { Line } from './steps';

type Words = typeof import('./words').inspect.en;
type Verbs = typeof import('../chat/trail/words').trail.en;

/** A name in two parts: words, and what is set as code. */
export interface Label {
  text: string;
  code?: string;
}

const first = (text: string): string => text.trim().split('\n')[0]?.slice(0, 140) ?? '';

/** The name of a step. */
export function labelOf(line: Line, w: Words, verbs: Verbs): Label {
  const { step } = line;
  switch (step.kind) {
    case 'call':
      return { text: callOf(line, w) };
    case 'tool':
      return toolLabel(line, verbs);
    case 'attempt':
      if (line.said) return { text: w.you(first(line.said)) };
      return { text: (step.attempt ?? 1) > 1 ? w.attempt(step.attempt ?? 2) : w.began };
    case 'compaction':
      return { text: w.shorter(thousands(step.compaction?.tokens ?? 0)) };
    case 'question':
      return { text: w.asked };
    case 'run':
      return { text: w.below };
    case 'end':
      return { text: [endOf(step.end?.status ?? '', w), first(step.end?.error ?? '')].filter(Boolean).join(': ') };
    default:
      return { text: first(step.notice?.message ?? '') || (step.notice?.type ?? step.kind) };
  }
}

function endOf(status: string, w: Words): string {
  return { success: w.success, error: w.endedError, interrupted: w.interrupted, timeout: w.timeout }[status] ?? status;
}

function callOf(line: Line, w: Words): string {
  const { call } = line.step;
  if (call?.error) return w.modelFailed(first(call.error));
  const said = line.answer ? first(textOf(line.answer)) : '';
  const names = [...new Set(call?.tool_calls ?? [])].join(', ');
  const plain = !said && names ? w.modelCalls(names) : w.modelSays(said);
  const failed = call?.tries?.find((t) => t.class);
  return failed ? w.modelSays(w.again(failed.class ?? '', lasted(failed.wait_ms))) : plain;
}

function toolLabel(line: Line, verbs: Verbs): Label {
  const name = line.step.tool?.name ?? '';
  const tool = toolOf(name);
  const [, did, failed] = tool.verbs;
  const verb = verbs[line.bad ? failed : did] as string;
  const object = line.call ? objectOf(line.call) || (line.bad ? name : '') : name;
  if (tool.words) return { text: `${verb} ${object}` };
  return object ? { text: verb, code: object } : { text: verb };
}
