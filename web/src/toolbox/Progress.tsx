// How far the installation of the toolbox is.
import type { ReactNode } from 'react';
import { useWords } from '../lib/i18n';
import { Glyph } from '../ui/Glyph';
import { megabytes, type Status } from './data';
import { toolbox } from './words';

export function Progress({ of: s }: { of: Status }): ReactNode {
  const w = useWords(toolbox);
  const step = { download: w.download, unpack: w.unpack, compile: w.compile }[s.step ?? ''] ?? w.begins;
  const part = s.total ? Math.min(1, (s.done ?? 0) / s.total) : 0;
  return (
    <div className="grid gap-2" role="status">
      <span className="flex items-center gap-2">
        <Glyph state="live" />
        <span className="grow">{step}</span>
        {!!s.total && <span className="soft num">{w.of(megabytes(s.done) || '0 MB', megabytes(s.total))}</span>}
      </span>
      <div className="meter">
        <i style={{ width: `${part * 100}%` }} />
      </div>
    </div>
  );
}
