// Questions of Pudu as the server has them, and what was answered.
import type { Message, Row } from '../talk/message';

export type Kind = 'missing_info' | 'ambiguous_requirement' | 'approach_choice' | 'risk_confirmation' | 'suggestion';

export interface Option {
  id: string;
  label: string;
  value: string;
  /** What the choice gains and costs, and whether it is the suggested one. */
  detail?: string;
  suggested?: boolean;
}

export interface Field {
  name: string;
  label: string;
  type: string;
  required: boolean;
  placeholder?: string;
  options?: Option[];
}

export interface Question {
  request_id: string;
  clarification_type: Kind;
  question: string;
  context?: string;
  options?: Option[];
  fields?: Field[];
}

/** The question that a tool message asks. */
export function questionOf(m: Message | undefined): Question | null {
  const input = (m?.artifact as { human_input?: Question & { kind?: string } } | null | undefined)?.human_input;
  return input?.kind === 'human_input_request' ? input : null;
}

/** What was answered, by the questions' ids. */
export function answersOf(rows: Row[]): Map<string, unknown> {
  const out = new Map<string, unknown>();
  for (const { message } of rows) {
    const reply = message.additional_kwargs?.['human_input_response'] as
      | { request_id?: string; value?: unknown }
      | undefined;
    if (reply?.request_id) out.set(reply.request_id, reply.value);
  }
  return out;
}

/** An answer as pairs of what was asked and what was said. */
export function pairsOf(q: Question, value: unknown): [string, string][] {
  const whole = typeof value === 'string' ? parsed(value) : value;
  if (whole !== null && typeof whole === 'object' && q.fields?.length) {
    const given = whole as Record<string, unknown>;
    return q.fields
      .filter((f) => given[f.name] !== undefined && given[f.name] !== '')
      .map((f) => [f.label, shown(given[f.name])]);
  }
  return [[q.question, shown(value)]];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return value.map(String).join(', ');
  if (value === true) return '✓';
  if (value === false) return '–';
  return String(value);
}
