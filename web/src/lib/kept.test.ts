import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { keep, keptOf } from './kept';

describe('what is typed into a form', () => {
  const kept = new Map<string, string>();
  beforeEach(() => {
    kept.clear();
    vi.stubGlobal('localStorage', {
      getItem: (k: string) => kept.get(k) ?? null,
      setItem: (k: string, v: string) => kept.set(k, v),
      removeItem: (k: string) => kept.delete(k),
    });
  });
  afterEach(() => vi.unstubAllGlobals());
  const start = { name: '', key: '', n: '1' };

  it('is kept, but for what is secret', () => {
    keep('f', { name: 'a', key: 'sk-1', n: '2' }, ['key']);
    expect([...kept.values()].join()).not.toContain('sk-1');
    expect(keptOf('f', start)).toEqual({ name: 'a', key: '', n: '2' });
    keep('f', null);
    expect(keptOf('f', start)).toEqual(start);
  });

  it('is not taken where it has another form', () => {
    for (const text of ['{"name":5,"n":null,"more":"x"}', 'null', '[', '"x"']) {
      kept.set('pudu.form.f', text);
      expect(keptOf('f', start)).toEqual(start);
    }
  });
});
