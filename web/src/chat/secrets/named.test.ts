import { expect, it } from 'vitest';
import { namedSkill } from './named';

it.each([
  ['/weather in Bern', 'weather'],
  ['/weather', 'weather'],
  ['  /data-analysis\nof May', 'data-analysis'],
  ['/goal win', ''],
  ['/Weather x', ''],
  ['/weather: x', ''],
  ['say /weather', ''],
  ['/ weather', ''],
  ['', ''],
])('%j names %j', (text, name) => expect(namedSkill(text)).toBe(name));
