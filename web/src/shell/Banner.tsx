// What is the matter with the server, in the header line, where it pushes nothing: it is not there, or has a new
// version. And the question whether the end of a run is to be told, which is asked when the first long one is under
// way.
import { type ReactNode, useEffect, useState } from 'react';
import { useWords } from '../lib/i18n';
import { useConnected } from '../lib/news/news';
import { useNewVersion } from '../outside/install';
import { known, longRun } from '../outside/notices';
import { words } from '../outside/words';
import { useTasks } from '../threads/tasks';
import { Icon } from '../ui/Icon';
import { shell } from './words';

/** How long the server may be away before that is said, in milliseconds. */
const late = 1500;

export function Banner(): ReactNode {
  const w = useWords(shell);
  const o = useWords(words);
  const away = useAway();
  const update = useNewVersion();
  const [long, asked] = useLongRun();
  return (
    <span className="connection">
      <span role="status">
        {away && (
          <span className="pill">
            <Icon name="offline" />
            {navigator.onLine ? w.restarting : w.offline}
          </span>
        )}
        {!away && update && <span className="pill">{o.update}</span>}
      </span>
      {!away && update && (
        <button type="button" className="btn sm" onClick={() => location.reload()}>
          {o.load}
        </button>
      )}
      {!away && !update && long && (
        <button
          type="button"
          className="btn ghost sm not-narrow"
          onClick={() => void Notification.requestPermission().finally(asked)}
        >
          {o.tellMe}
        </button>
      )}
    </span>
  );
}

/** Whether the server is away, and for long enough to say so. */
function useAway(): boolean {
  const connected = useConnected();
  const [away, setAway] = useState(false);
  useEffect(() => {
    if (connected) return setAway(false);
    const timer = setTimeout(() => setAway(true), late);
    return () => clearTimeout(timer);
  }, [connected]);
  return away;
}

/** Whether a run has been under way for long, and nobody has said yet whether its end is to be told. */
function useLongRun(): [boolean, () => void] {
  const [open, setOpen] = useState(() => typeof Notification !== 'undefined' && Notification.permission === 'default');
  const [long, setLong] = useState(false);
  const { data } = useTasks();
  const running = !!data?.threads.some((t) => t.state === 'running');
  useEffect(() => known(data?.threads ?? []), [data]);
  useEffect(() => {
    if (!running || !open) return setLong(false);
    const timer = setTimeout(() => setLong(true), longRun);
    return () => clearTimeout(timer);
  }, [running, open]);
  return [long, () => setOpen(false)];
}
