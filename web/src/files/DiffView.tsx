// The lines of a diff in one column, with the words marked that changed.
import type { ReactNode } from 'react';
import { define, useWords } from '../lib/i18n';
import type { Hunk, Line } from './diff';

const words = define(
  {
    same: (n: number) => `${n} ${n === 1 ? 'line' : 'lines'} the same`,
    added: 'added:',
    removed: 'removed:',
  },
  {
    same: (n: number) => `${n} 行相同`,
    added: '新增：',
    removed: '删除：',
  },
);

const looks = { add: 'a', del: 'd', same: '' };
const signs = { add: '+', del: '−', same: '' };

export function Hunks({ hunks, label }: { hunks: Hunk[]; label: string }): ReactNode {
  const w = useWords(words);
  return (
    <div className="lines" tabIndex={0} role="region" aria-label={label}>
      <table role="presentation">
        {hunks.map((hunk, n) => (
          <tbody key={n}>
            {hunk.before > 0 && (
              <tr className="hunk">
                <td colSpan={4}>{w.same(hunk.before)}</td>
              </tr>
            )}
            {hunk.lines.map((line, i) => (
              <tr key={i} className={looks[line.kind]}>
                <td className="no">{line.old}</td>
                <td className="no">{line.now}</td>
                <td className="sg">
                  <span aria-hidden="true">{signs[line.kind]}</span>
                  {line.kind !== 'same' && <span className="sr">{line.kind === 'add' ? w.added : w.removed}</span>}
                </td>
                <td>{line.pieces.map((p, k) => (p.marked ? <Marked key={k} line={line} text={p.text} /> : <span key={k}>{p.text}</span>))}</td>
              </tr>
            ))}
          </tbody>
        ))}
      </table>
    </div>
  );
}

const Marked = ({ line, text }: { line: Line; text: string }): ReactNode => (line.kind === 'add' ? <ins>{text}</ins> : <del>{text}</del>);
