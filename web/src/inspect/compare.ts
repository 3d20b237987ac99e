// Two runs, step beside step: what a step did is told by its text, and where these differ for the first time the runs
// part.
import { textOf } from '../chat/talk/message';
import type { Line } from './steps';

/** What a step did. Times, ids and tokens are none of it. */
export interface Deed {
  line: Line;
  /** What is beside the text that was said: calls with their arguments, how it ended. */
  text: string;
}

export interface Row {
  left?: Deed;
  right?: Deed;
  same: boolean;
}

/** What was done in a run, step by step. */
export function deedsOf(lines: Line[]): Deed[] {
  return lines.flatMap((line) => {
    const text = deed(line);
    return text === null ? [] : [{ line, text }];
  });
}

function deed(line: Line): string | null {
  const { step } = line;
  switch (step.kind) {
    case 'attempt':
      return line.said ?? null;
    case 'call': {
      if (!line.answer) return step.call?.error ?? '';
      const calls = (line.answer.tool_calls ?? []).map((c) => `${c.name} ${JSON.stringify(c.args, null, 2)}`);
      return [textOf(line.answer).trim(), ...calls].filter(Boolean).join('\n');
    }
    case 'tool':
      return `${step.tool?.name ?? ''}\n${line.result ? textOf(line.result).trim() : (step.tool?.summary ?? '')}`;
    case 'question':
      return '?';
    case 'end':
      return [step.end?.status, step.end?.stop_reason, step.end?.error].filter(Boolean).join(' ');
    default:
      return null; // attempts, compactions and notices are how a run went, not what it did
  }
}

/** The steps of two runs side by side, and which of them is the first that differs; -1 if none does. */
export function compared(a: Line[], b: Line[]): { rows: Row[]; first: number } {
  const [left, right] = [deedsOf(a), deedsOf(b)];
  const rows: Row[] = [];
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const [l, r] = [left[i], right[i]];
    const same = !!l && !!r && l.line.step.kind === r.line.step.kind && l.text === r.text;
    rows.push({ ...(l ? { left: l } : {}), ...(r ? { right: r } : {}), same });
  }
  return { rows, first: rows.findIndex((r) => !r.same) };
}
