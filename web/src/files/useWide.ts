// Whether a box has a width, followed while it changes.
import { useCallback, useState } from 'react';

export function useWide(width: number): [(box: HTMLElement | null) => (() => void) | undefined, boolean] {
  const [wide, setWide] = useState(false);
  const follow = useCallback(
    (box: HTMLElement | null) => {
      if (!box) return undefined;
      const look = new ResizeObserver(([entry]) => setWide((entry?.contentRect.width ?? 0) >= width));
      look.observe(box);
      return () => look.disconnect();
    },
    [width],
  );
  return [follow, wide];
}
