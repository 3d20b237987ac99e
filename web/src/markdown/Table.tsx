// A table: it scrolls sideways in its own box, numbers stand right.
import type { Tokens } from 'marked';
import { type ReactNode, useState } from 'react';
import { useWords } from '../lib/i18n';
import { inline } from './inline';
import { words } from './words';

const number = /^[-−–+]?[€$£¥]?\s?[\d.,\u00a0 ]+\s?(%|[a-zA-Z€$£¥]{0,3})$/;

/**
 * A table that is being written has columns of one width and no opinion about numbers: cells that are there do not move
 * when others come. It stays so as long as it is on the screen.
 */
export function Table({ token, open = false }: { token: Tokens.Table; open?: boolean }): ReactNode {
  const [live] = useState(open);
  const w = useWords(words);
  const right = token.header.map(
    (h, i) =>
      h.align === 'right' ||
      (!live && !h.align && token.rows.length > 0 && token.rows.every((r) => number.test(r[i]?.text.trim() ?? ''))),
  );
  return (
    <div className="tablebox">
      <div className="wide" tabIndex={0} role="region" aria-label={w.table}>
        <table className={live ? 'cells live' : 'cells'}>
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
