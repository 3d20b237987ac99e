// The bill behind the ring of the composer.
import type { ReactNode } from 'react';
import { errors, sentence } from '../lib/errors';
import { useWords } from '../lib/i18n';
import { Link } from '../lib/router';
import { Icon } from '../ui/Icon';
import { Bill } from './Bill';
import { useCall } from './data';
import { inspect } from './words';
import './inspect.css';

export default function RingBill({ thread, run, n }: { thread: string; run: string; n: number }): ReactNode {
  const w = useWords(inspect);
  const e = useWords(errors);
  const { data, error } = useCall(thread, run, n);
  return (
    <>
      {error && <p className="note-line bad">{sentence(error, e)}</p>}
      {data ? <Bill call={data} /> : !error && <div className="h-72" />}
      <Link className="btn sm" to={`/c/${thread}/run/${run}`}>
        <Icon name="inspect" />
        {w.openInspector}
      </Link>
    </>
  );
}
