// The bill of a call's context: of what the request was made of, how many tokens each part took, and what the cache
// served of it.
import type { ReactNode } from 'react';
import { thousands, useWords } from '../lib/i18n';
import { money } from '../lib/money';
import type { Call } from './data';
import { sharesOf } from './steps';
import { inspect } from './words';

const exactly = (n: number): string => n.toLocaleString('en');

export function Bill({ call }: { call: Call }): ReactNode {
  const w = useWords(inspect);
  const parts = (call.parts ?? []).filter((p) => p.tokens > 0);
  const shares = sharesOf(parts, call.usage);
  const total = shares.reduce((sum, s) => sum + s.tokens, 0);
  const window = call.context_window;
  const share = call.usage ? Math.round(call.usage.cached_share * 100) : 0;
  const name = (s: { part: string; count: number }): string =>
    ({
      system: w.partSystem,
      tools: w.partTools(s.count),
      history: w.partHistory,
      results: w.partResults(s.count),
      images: w.partImages(s.count),
    })[s.part] ?? s.part;
  const { system, tools } = call.new;
  const width = (n: number): string => `${(n / Math.max(window || total, 1)) * 100}%`;
  return (
    <section className="block">
      <h2>
        {w.context} <b className="num">{thousands(total)}</b> {window ? w.ofWindow(thousands(window)) : w.noWindow}
        {share > 0 && `, ${w.cached(share)}`}
      </h2>
      <div className="bill" role="img" aria-label={shares.map((s) => `${name(s)}: ${exactly(s.tokens)}`).join(', ')}>
        {shares.map((s, i) => (
          <i key={s.part} className={`part${i + 1}`} style={{ width: width(s.tokens) }} />
        ))}
      </div>
      <table className="billt">
        <thead>
          <tr>
            <th scope="col">{w.part}</th>
            <th scope="col">{w.tokensHead}</th>
            <th scope="col">{w.fromCache}</th>
          </tr>
        </thead>
        <tbody>
          {shares.map((s, i) => (
            <tr key={s.part}>
              <th scope="row">
                <i className={`part${i + 1}`} />
                {name(s)}
              </th>
              <td>{exactly(s.tokens)}</td>
              <td>{call.usage ? exactly(s.cached) : '–'}</td>
            </tr>
          ))}
          <tr className="total">
            <th scope="row">{w.sentAll}</th>
            <td>{exactly(total)}</td>
            <td>{call.usage ? exactly(call.usage.cached_tokens) : '–'}</td>
          </tr>
          {call.usage && (
            <tr>
              <th scope="row">
                {w.back2}
                {call.usage.reasoning_tokens > 0 && `, ${w.thinking(exactly(call.usage.reasoning_tokens))}`}
              </th>
              <td>{exactly(call.usage.output_tokens)}</td>
              <td />
            </tr>
          )}
          {call.cost && (
            <tr className="total">
              <th scope="row">{w.cost}</th>
              <td colSpan={2}>{money(call.cost)}</td>
            </tr>
          )}
        </tbody>
      </table>
      {call.new.since > 0 && <p className="soft">{w.freshSince(call.new.since, thousands(call.new.tokens))}</p>}
      {call.new.since > 0 && (system || tools) && (
        <p className="soft">{w.changed(system && tools ? w.partsBoth : tools ? w.partsTools : w.partsSystem)}</p>
      )}
      <p className="soft small">{call.usage ? w.guess : w.guessAll}</p>
    </section>
  );
}
