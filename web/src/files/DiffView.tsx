// The lines of a diff, in one column or side by side, with the words marked that changed.
import type { ReactNode } from 'react';
import { define, useWords } from '../lib/i18n';
import { type Hunk, type Line, pairsOf } from './diff';

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

export function Hunks({ hunks, label, split = false }: { hunks: Hunk[]; label: string; split?: boolean }): ReactNode {
  const w = useWords(words);
  return (
    <div className={split ? 'lines split' : 'lines'} tabIndex={0} role="region" aria-label={label}>
      <table role="presentation">
        {hunks.map((hunk, n) => (
          <tbody key={n}>
            {hunk.before > 0 && (
              <tr className="hunk">
                <td colSpan={4}>{w.same(hunk.before)}</td>
              </tr>
            )}
            {split
              ? pairsOf(hunk.lines).map(([old, now], i) => (
                  <tr key={i}>
                    <Side line={old} no={old?.old} />
                    <Side line={now} no={now?.now} />
                  </tr>
                ))
              : hunk.lines.map((line, i) => (
                  <tr key={i} className={looks[line.kind]}>
                    <td className="no">{line.old}</td>
                    <td className="no">{line.now}</td>
                    <td className="sg">
                      <span aria-hidden="true">{signs[line.kind]}</span>
                      <Said line={line} />
                    </td>
                    <td>
                      <Pieces line={line} />
                    </td>
                  </tr>
                ))}
          </tbody>
        ))}
      </table>
    </div>
  );
}

/** What a line is, for who does not see its colour. */
function Said({ line }: { line: Line }): ReactNode {
  const w = useWords(words);
  return line.kind !== 'same' && <span className="sr">{line.kind === 'add' ? w.added : w.removed}</span>;
}

const Pieces = ({ line }: { line: Line }): ReactNode =>
  line.pieces.map((p, k) => (p.marked ? <Marked key={k} line={line} text={p.text} /> : <span key={k}>{p.text}</span>));

/** A line on its side; where the other side alone has one there is none. */
const Side = ({ line, no }: { line: Line | undefined; no: number | undefined }): ReactNode => (
  <>
    <td className={line ? `no ${looks[line.kind]}` : 'no'}>{no}</td>
    <td className={line ? looks[line.kind] : 'nothing'}>
      {line && <Said line={line} />}
      {line && <Pieces line={line} />}
    </td>
  </>
);

const Marked = ({ line, text }: { line: Line; text: string }): ReactNode =>
  line.kind === 'add' ? <ins>{text}</ins> : <del>{text}</del>;
