// A table: it scrolls sideways in its own box, numbers stand right.
import type { Tokens } from 'marked';
import type { ReactNode } from 'react';
import { chat } from '../chat/words';
import { useWords } from '../lib/i18n';
import { inline } from './inline';

const number = /^[-−–+]?[€$£¥]?\s?[\d.,\u00a0 ]+\s?(%|[a-zA-Z€$£¥]{0,3})$/;

export function Table({ token }: { token: Tokens.Table }): ReactNode {
  const w = useWords(chat);
  const right = token.header.map(
    (h, i) => h.align === 'right' || (!h.align && token.rows.length > 0 && token.rows.every((r) => number.test(r[i]?.text.trim() ?? ''))),
  );
  return (
    <div className="tablebox">
      <div className="wide" tabIndex={0} role="region" aria-label={w.tableScrolls}>
        <table className="cells">
          <thead>
            <tr>
              {token.header.map((cell, i) => (
                <th key={i} className={right[i] ? 'r' : undefined}>
                  {inline(cell.tokens)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {token.rows.map((row, n) => (
              <tr key={n}>
                {row.map((cell, i) => (
                  <td key={i} className={right[i] ? 'r' : undefined}>
                    {inline(cell.tokens)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}
