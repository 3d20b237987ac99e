// What a turn asks at its end: approvals, a question; or what was answered.
import { lazy, type ReactNode, Suspense } from 'react';
import { useWords } from '../../lib/i18n';
import { Icon } from '../../ui/Icon';
import type { Secrets } from '../secrets/held';
import type { Arrival } from '../talk/requests';
import type { Step, Turn } from '../talk/turns';
import type { Asked } from '../talk/talk';
import { pairsOf, type Question, questionOf } from './question';
import { asked } from './words';

const Approvals = lazy(() => import('./Approvals'));
const QuestionForm = lazy(() => import('./QuestionForm'));

/** The question that a turn ended with. */
export function lastQuestion(turn: Turn): Question | null {
  const calls = turn.steps.filter((s): s is Extract<Step, { kind: 'call' }> => s.kind === 'call');
  for (const step of calls.reverse()) {
    const q = questionOf(step.result);
    if (q) return q;
  }
  return null;
}

interface AskingProps {
  thread: string;
  turn: Turn;
  last: boolean;
  /** A run is at work: what others ask beside it can be answered, what a run ended with cannot. */
  busy: boolean;
  /** Calls of the turn's run that wait. */
  waiting: Asked[];
  answers: Map<string, unknown>;
  answer: (resume: unknown, secrets?: Secrets) => Promise<Arrival>;
}

export function Asking({ thread, turn, last, busy, waiting, answers, answer }: AskingProps): ReactNode {
  if (last && waiting.length > 0) {
    return (
      <Suspense fallback={null}>
        <Approvals thread={thread} asked={waiting} answer={answer} />
      </Suspense>
    );
  }
  const q = lastQuestion(turn);
  if (!q || turn.answer || answers.has(q.request_id)) return null;
  return last && !busy ? (
    <Suspense key={q.request_id} fallback={null}>
      <QuestionForm
        question={q}
        answer={(value) => answer(typeof value === 'string' ? value : { [q.request_id]: value })}
      />
    </Suspense>
  ) : null;
}

/** What was answered to the questions of a turn, in words. */
export function Answers({ turn, answers }: { turn: Turn; answers: Map<string, unknown> }): ReactNode {
  const asked = turn.steps.map((s) => (s.kind === 'call' ? questionOf(s.result) : null));
  return asked.map(
    (q) =>
      q && answers.has(q.request_id) && <Answered key={q.request_id} question={q} value={answers.get(q.request_id)} />,
  );
}

function Answered({ question, value }: { question: Question; value: unknown }): ReactNode {
  const w = useWords(asked);
  return (
    <div className="answered">
      <span className="node">
        <Icon name="check" />
      </span>
      <div>
        <div className="text-ink-2">{w.youAnswered}</div>
        <dl>
          {pairsOf(question, value).map(([name, said]) => (
            <div key={name} className="contents">
              <dt>{name}</dt>
              <dd>{said}</dd>
            </div>
          ))}
        </dl>
      </div>
    </div>
  );
}
