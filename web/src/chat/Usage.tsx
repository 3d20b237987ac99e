// The one sum: what the task has cost, in money where its models have prices, else in tokens. It opens to what each run
// took.
import type { ReactNode } from 'react';
import { define, lasted, some, thousands, useWords, when } from '../lib/i18n';
import { moneys } from '../lib/money';
import { ask, Link } from '../lib/router';
import type { Costs, Spent } from './costs';

const words = define(
  {
    usage: 'Usage',
    cost: 'This task has cost',
    used: 'This task has taken',
    tokens: (n: string) => `${n} tokens`,
    runs: 'Runs',
    show: (sum: string) => `This task has cost ${sum}. Show usage`,
    steps: (n: number) => some(n, 'call'),
    inspect: 'Inspect the run',
    more: 'Older runs are not counted here.',
  },
  {
    usage: '用量',
    cost: '此任务已花费',
    used: '此任务已使用',
    tokens: (n: string) => `${n} 词元`,
    runs: '运行',
    show: (sum: string) => `此任务已花费 ${sum}，查看用量`,
    steps: (n: number) => `${n} 次调用`,
    inspect: '检查运行',
    more: '更早的运行未计入',
  },
);

type Taken = Pick<Spent, 'usage' | 'cost'>;

/** What something took: money, or tokens where that has no price. */
const sumOf = (t: Taken, tokens: (n: string) => string): string =>
  moneys(t.cost) || tokens(thousands(t.usage.input_tokens + t.usage.output_tokens));

/** The sum in the head of a task: it opens the bill. */
export function TotalCost({ costs }: { costs: Costs | undefined }): ReactNode {
  const w = useWords(words);
  const total = moneys(costs?.cost);
  if (!total) return null;
  return (
    <button
      type="button"
      className="btn ghost sm num not-narrow"
      aria-label={w.show(total)}
      title={w.show(total)}
      onClick={() => ask({ panel: 'run', file: null, run: null })}
    >
      {total}
    </button>
  );
}

/** The bill of a task: its sum, and the runs that it is made of. */
export function UsageOf({ thread, costs }: { thread: string; costs: Costs | undefined }): ReactNode {
  const w = useWords(words);
  const priced = (costs?.cost?.length ?? 0) > 0;
  return (
    <section className="block">
      <h2>{w.usage}</h2>
      {costs && (
        <>
          <dl className="kv">
            <dt>{priced ? w.cost : w.used}</dt>
            <dd>{sumOf(costs, w.tokens)}</dd>
          </dl>
          <ul className="runlist" aria-label={w.runs}>
            {(costs.runs ?? []).map((r) => {
              const what = [r.ended ? lasted(Date.parse(r.ended) - Date.parse(r.began)) : '', sumOf(r, w.tokens)]
                .filter(Boolean)
                .join(' · ');
              return (
                <li key={r.run_id}>
                  <Link className="row" to={`/c/${thread}/run/${r.run_id}`}>
                    <span>{when(r.began)}</span>
                    <span className="soft not-narrow">{w.steps(r.calls)}</span>
                    <span className="at">{what}</span>
                    <span className="sr">{w.inspect}</span>
                  </Link>
                </li>
              );
            })}
          </ul>
          {costs.more && <p className="soft">{w.more}</p>}
        </>
      )}
    </section>
  );
}
