import { describe, expect, it } from 'vitest';
import { visible } from '../lib/visible';
import { sandboxOf } from '../welcome/machine';
import { deviceOf } from './device';

describe('settings', () => {
  it('say what a browser is', () => {
    const safari = 'AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1';
    expect(
      [
        'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
        'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0 Safari/537.36 Edg/150.0',
        `Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) ${safari}`,
        'Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0 Mobile Safari/537.36',
        'curl/8.5.0',
        '',
      ].map(deviceOf),
    ).toEqual(['Firefox, Linux', 'Edge, Windows', 'Safari, iPhone', 'Chrome, Android', 'curl', '']);
  });

  it('show what is hidden in a command', () => {
    expect(visible('ls \u202egpj\u200b.sh\u0007')).toBe('ls \\u{202e}gpj\\u{200b}.sh\\u{7}');
    expect(visible('echo "日本" &&\n\trm -rf é')).toBe('echo "日本" &&\n\trm -rf é');
  });

  it('tell the state of the sandbox', () => {
    expect(sandboxOf({ sandbox: 'bubblewrap', notes: ['x'] })).toEqual({ state: 'on' });
    expect(sandboxOf({ sandbox: 'host (not isolated)' })).toEqual({ state: 'open' });
    expect(
      sandboxOf({ sandbox: 'none (code tools are off)', notes: ['a', 'code tools are off: bwrap is missing'] }),
    ).toEqual({ state: 'off', why: 'bwrap is missing' });
    expect(sandboxOf({ sandbox: 'none (code tools are off)', notes: null })).toEqual({ state: 'off', why: '' });
  });
});
