// The page of the skills: what there is, what one says, installing with the verdict shown, changes and the way back.
import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { found } from './axe';
import { closeBrowser, Server, type Visitor, visit } from './kit';
import { picture } from './picture';
import { zipped } from './zipped';

afterAll(closeBrowser);

const md = (name: string, text = 'Sort the notes by date.'): string =>
  `---\nname: ${name}\ndescription: Sorts notes by date.\n---\n\n${text}\n`;

interface Listed {
  name: string;
  enabled: boolean;
  description: string;
}

describe('skills', () => {
  let server: Server;
  let v: Visitor;
  beforeEach(async () => {
    server = await new Server().start();
    v = await visit(server, { acceptDownloads: true, bypassCSP: true });
  });
  afterEach(async () => {
    await v.close();
    await server.close();
  });

  const listed = async (): Promise<Listed[]> => (await server.get<{ skills: Listed[] }>('/skills')).skills;
  const line = (name: string) =>
    v.page.getByRole('listitem').filter({ has: v.page.getByRole('button', { name, exact: true }) });
  const panel = (name: string) => v.page.getByRole('complementary', { name });
  const choose = async (name: string, files: Record<string, string>): Promise<void> =>
    v.page.locator('input[type="file"]').setInputFiles({ name, mimeType: 'application/zip', buffer: zipped(files) });
  const install = async (name: string, files: Record<string, string>): Promise<void> => {
    await choose(`${name}.skill`, files);
    await v.page
      .getByRole('region', { name: `Install ${name}?` })
      .getByRole('button', { name: 'Install' })
      .click();
    await panel(name).waitFor();
  };

  it('are listed, searched, read and switched', async () => {
    const { page } = v;
    await v.to('/');
    await page.getByRole('link', { name: 'Skills' }).click();
    await line('report').getByText('never used').waitFor();
    await page.getByRole('searchbox').fill('slides');
    await line('report').waitFor({ state: 'detached' });
    await page.getByRole('searchbox').fill('nothing has this');
    await v.sees('No skill has “nothing has this”.');
    await page.getByRole('searchbox').fill('');
    await line('report').getByRole('switch').click();
    await expect.poll(async () => (await listed()).find((s) => s.name === 'report')?.enabled).toBe(false);
    await page.getByRole('button', { name: 'report', exact: true }).click();
    await panel('report').getByLabel('SKILL.md').getByText('name: report').waitFor();
    await panel('report')
      .getByRole('button', { name: /scripts\/.*\.py/ })
      .first()
      .click();
    await panel('report')
      .getByLabel(/scripts\/.*\.py/)
      .getByText('import')
      .waitFor();
    expect(await panel('report').getByRole('button', { name: 'Edit' }).count()).toBe(0); // it is built in
    expect(await found(page)).toEqual([]);
    await panel('report').getByRole('button', { name: 'Try it in a task' }).click();
    await expect.poll(() => page.getByRole('textbox', { name: 'Task' }).inputValue()).toBe('/report ');
  });

  it('are installed when the verdict is confirmed, changed, and made what they were', async () => {
    const { page } = v;
    await v.to('/library/skills');
    await choose('tidy-notes.skill', { 'SKILL.md': md('tidy-notes'), 'scripts/sort.py': 'print(1)\n' });
    const ask = page.getByRole('region', { name: 'Install tidy-notes?' });
    await ask.getByText('The scan found nothing.').waitFor();
    await ask.getByRole('button', { name: 'Cancel' }).click();
    expect((await listed()).some((s) => s.name === 'tidy-notes')).toBe(false);
    await install('tidy-notes', { 'SKILL.md': md('tidy-notes'), 'scripts/sort.py': 'print(1)\n' });
    await line('tidy-notes').getByText('yours').waitFor();
    await panel('tidy-notes').getByText('Nothing was found.').waitFor();
    await panel('tidy-notes').getByRole('button', { name: 'Edit' }).click();
    const form = panel('tidy-notes').getByRole('form', { name: 'Edit' });
    const text = form.getByLabel('Text of SKILL.md');
    await text.fill(md('tidy-notes', '-----BEGIN PRIVATE KEY-----'));
    await form.getByRole('button', { name: 'Save' }).click();
    await form.getByText('SKILL.md:6', { exact: true }).waitFor();
    await text.fill(
      md('tidy-notes', 'Sort them the other way.').replace('description', 'required-secrets: [NOTES_KEY]\ndescription'),
    );
    await page.reload();
    expect(await text.inputValue()).toContain('the other way'); // what is typed is kept
    await form.getByRole('button', { name: 'Save' }).click();
    await panel('tidy-notes').getByText('You changed it').waitFor();
    await panel('tidy-notes').getByText('Its commands use the secrets NOTES_KEY, which a request brings').waitFor();
    await panel('tidy-notes').getByLabel('SKILL.md').getByText('the other way').waitFor();
    expect(await found(page)).toEqual([]);
    await picture(page, 'skills-light-1440');
    await panel('tidy-notes').getByRole('button', { name: 'Undo this' }).click();
    await panel('tidy-notes').getByLabel('SKILL.md').getByText('by date').waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      panel('tidy-notes').getByRole('link', { name: 'Export' }).click(),
    ]);
    expect(
      readFileSync(await download.path())
        .subarray(0, 2)
        .toString(),
    ).toBe('PK');
    await panel('tidy-notes').getByRole('button', { name: 'Remove' }).click();
    await line('tidy-notes').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Undo', exact: true }).click();
    await line('tidy-notes').waitFor();
  });

  it('that are refused say why, and stay in the list with the reason', async () => {
    const { page } = v;
    await v.to('/library/skills');
    await choose('evil.skill', { '../evil': 'x' });
    const card = page.getByRole('region', { name: 'evil.skill was not installed' });
    await card.getByRole('alert').waitFor();
    await card.getByText('../evil', { exact: true }).first().waitFor();
    await card.getByRole('button', { name: 'Close' }).click();
    await choose('harmful-notes.skill', { 'SKILL.md': md('harmful-notes') });
    await page.getByRole('region', { name: 'Install harmful-notes?' }).getByRole('button', { name: 'Install' }).click();
    await page
      .getByRole('region', { name: 'harmful-notes.skill was not installed' })
      .getByText('It sends notes away.')
      .waitFor();
    await page.getByRole('button', { name: 'Why: harmful-notes' }).click();
    await page
      .getByRole('listitem')
      .filter({ hasText: 'harmful-notes' })
      .getByRole('paragraph')
      .getByText('It sends notes away.')
      .waitFor();
    expect(await found(page)).toEqual([]);
    expect((await listed()).some((s) => s.name === 'harmful-notes')).toBe(false);
  });

  it('stand in Chinese on a narrow screen', async () => {
    const { page } = v;
    await page.setViewportSize({ width: 390, height: 844 });
    await v.to('/settings/general');
    await page.getByText('中文').first().click();
    await v.to('/library/skills/report');
    await panel('report').getByRole('button', { name: '在任务中试用' }).waitFor();
    expect(await found(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    await panel('report').getByRole('button', { name: '关闭' }).click();
    await page.getByRole('heading', { name: '技能' }).waitFor();
    expect(await found(page)).toEqual([]);
  });
});
