// Whether the screen fits a condition, followed while it changes.
import { useCallback, useSyncExternalStore } from 'react';

export function useMedia(condition: string): boolean {
  const subscribe = useCallback(
    (listener: () => void) => {
      const query = matchMedia(condition);
      query.addEventListener('change', listener);
      return () => query.removeEventListener('change', listener);
    },
    [condition],
  );
  return useSyncExternalStore(subscribe, () => matchMedia(condition).matches);
}
