// What a browser says of itself, in a few words.

const browsers: [RegExp, string][] = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\bHeadlessChrome\//, 'Chrome'],
  [/\b(?:Chrome|CriOS|Chromium)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];
const systems: [RegExp, string][] = [
  [/\bAndroid\b/, 'Android'],
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b|\bMacintosh\b/, 'Mac'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
];

/** The browser and its system, such as "Firefox, Linux"; what is no browser is its own first word. */
export function deviceOf(agent: string): string {
  const first = (list: [RegExp, string][]): string => list.find(([form]) => form.test(agent))?.[1] ?? '';
  const browser = first(browsers);
  if (!browser) return agent.split(/[\s/]/)[0]?.slice(0, 40) ?? '';
  return [browser, first(systems)].filter(Boolean).join(', ');
}
