// What the scan has found: of each what it is, where, and what to do about it.
import type { ReactNode } from 'react';
import { Glyph } from '../ui/Glyph';
import type { Finding } from './data';

export function Findings({ list }: { list: Finding[] }): ReactNode {
  return (
    <ul className="findings">
      {list.map((f, i) => (
        <li key={i}>
          <Glyph state={f.severity === 'CRITICAL' ? 'bad' : 'ask'} />
          <span>
            {f.message} <small className="mono">{[f.file, f.line].filter(Boolean).join(':')}</small>
            {f.evidence && <code>{f.evidence}</code>}
            <small>{f.remediation}</small>
          </span>
        </li>
      ))}
    </ul>
  );
}
