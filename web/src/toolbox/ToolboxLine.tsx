// On the start page, where the toolbox is not installed: one line with a button. Who says no in this browser is not
// asked again there.
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useWords } from '../lib/i18n';
import { Link } from '../lib/router';
import { useAdmin } from '../settings/SettingsPage';
import { failed } from '../shell/Failure';
import { Icon } from '../ui/Icon';
import { install, megabytes, useToolbox } from './data';
import { Progress } from './Progress';
import { toolbox } from './words';
import './toolbox.css';

const refusedKey = 'pudu.toolbox.later';

function wasRefused(): boolean {
  try {
    return localStorage.getItem(refusedKey) !== null;
  } catch {
    return false;
  }
}

function refuse(): void {
  try {
    localStorage.setItem(refusedKey, '1');
  } catch {
    // a browser that keeps nothing asks again
  }
}

export default function ToolboxLine(): ReactNode {
  const w = useWords(toolbox);
  const client = useQueryClient();
  const admin = useAdmin('config:write');
  const { data } = useToolbox();
  const [gone, setGone] = useState(wasRefused);
  if (
    !admin ||
    !data ||
    (data.state !== 'missing' && data.state !== 'installing') ||
    (gone && data.state === 'missing')
  )
    return null;
  return (
    <aside className="toolbox-line" aria-label={w.title}>
      {data.state === 'installing' ? (
        <Progress of={data} />
      ) : (
        <>
          <Icon name="chart" />
          <Link className="grow" to="/settings/toolbox">
            {data.why ? w.failed(data.why) : w.line}
          </Link>
          <button type="button" className="btn sm" onClick={() => void install(client).catch(failed)}>
            {w.install(megabytes(data.total))}
          </button>
          <button
            type="button"
            className="btn ghost icon sm"
            aria-label={w.later}
            title={w.later}
            onClick={() => {
              refuse();
              setGone(true);
            }}
          >
            <Icon name="x" />
          </button>
        </>
      )}
    </aside>
  );
}
