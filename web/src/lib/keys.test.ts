import { describe, expect, it } from 'vitest';
import { fits, keys, shown } from './keys';
import { keyWords } from './keyWords';

const pressed = (key: string, more: Partial<KeyboardEvent> = {}): KeyboardEvent =>
  ({ key, code: '', ctrlKey: false, metaKey: false, shiftKey: false, altKey: false, ...more }) as KeyboardEvent;

describe('keys', () => {
  it('are found with what is held', () => {
    expect(fits('Ctrl K', pressed('k', { ctrlKey: true }))).toBe(true);
    expect(fits('Ctrl K', pressed('k', { metaKey: true }))).toBe(true);
    expect(fits('Ctrl K', pressed('k'))).toBe(false);
    expect(fits('Ctrl K', pressed('K', { ctrlKey: true, shiftKey: true }))).toBe(false);
    expect(fits('Ctrl Shift O', pressed('O', { ctrlKey: true, shiftKey: true }))).toBe(true);
    expect(fits('Ctrl .', pressed('.', { ctrlKey: true, altKey: true }))).toBe(false);
    expect(fits('E', pressed('E', { shiftKey: true }))).toBe(false);
    expect(fits('F2', pressed('F2'))).toBe(true);
  });

  it('are found on other keyboards', () => {
    expect(fits('Ctrl K', pressed('л', { code: 'KeyK', ctrlKey: true }))).toBe(true);
    expect(fits('Ctrl K', pressed('t', { code: 'KeyK', ctrlKey: true }))).toBe(false); // Dvorak: the letter counts
    expect(fits('?', pressed('?', { shiftKey: true }))).toBe(true);
    expect(fits('?', pressed('?'))).toBe(true);
  });

  it('have words, and no two are the same in one place', () => {
    for (const k of keys) for (const w of [keyWords.en, keyWords.zh]) expect(w[k.what] && w[k.where]).toBeTruthy();
    expect(new Set(keys.map((k) => `${k.where} ${k.key}`)).size).toBe(keys.length);
    expect(shown('Ctrl Shift O')).toBe('Ctrl ⇧ O');
  });
});
