// The files of a task in a browser: handed over, shown by their kinds, changed, put back, edited.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { foundInBoth } from './axe';
import { closeBrowser, Server, type Visitor, visit } from './kit';
import { picture } from './picture';
import { zipped } from './zipped';

const relations = (of: Record<string, string>): string =>
  `<Relationships>${Object.entries(of)
    .map(([id, to]) => `<Relationship Id="${id}" Target="${to}"/>`)
    .join('')}</Relationships>`;

/** A workbook with a shared text, a day, a number, a truth, and a second sheet. */
const book = {
  'xl/workbook.xml':
    '<workbook xmlns:r="urn:r"><sheets><sheet name="Sales" r:id="r1"/><sheet name="Notes" r:id="r2"/></sheets></workbook>',
  'xl/_rels/workbook.xml.rels': relations({ r1: 'worksheets/sheet1.xml', r2: '/xl/worksheets/sheet2.xml' }),
  'xl/sharedStrings.xml': '<sst><si><t>Month</t></si><si><r><t>Only words</t></r><r><t> &amp; more</t></r></si></sst>',
  'xl/styles.xml': '<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>',
  'xl/worksheets/sheet1.xml':
    '<worksheet><sheetData><row><c r="A1" t="s"><v>0</v></c><c r="C1" t="inlineStr"><is><t>Sum</t></is></c><c r="D1" t="str"><v>Whole</v></c></row>' +
    '<row><c r="A2" s="1"><v>45627</v></c><c r="C2"><v>73969.500000000001</v></c><c r="D2" t="b"><v>1</v></c></row></sheetData></worksheet>',
  'xl/worksheets/sheet2.xml': '<worksheet><sheetData><row><c r="A1" t="s"><v>1</v></c></row></sheetData></worksheet>',
};
const letter =
  '<w:document xmlns:w="urn:w"><w:body><w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Three best months</w:t></w:r></w:p>' +
  '<w:p><w:r><w:t xml:space="preserve">Plain and </w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>bold</w:t></w:r></w:p>' +
  '<w:p><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>A point</w:t></w:r></w:p>' +
  '<w:tbl><w:tr><w:tc><w:p><w:r><w:t>2024-12</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>73,969</w:t></w:r></w:p></w:tc></w:tr></w:tbl></w:body></w:document>';
const slide = (text: string): string =>
  `<p:sld xmlns:p="urn:p" xmlns:a="urn:a"><a:p><a:r><a:t>${text}</a:t></a:r></a:p><a:p><a:r><a:t>below</a:t></a:r></a:p></p:sld>`;
const talk = {
  'ppt/presentation.xml':
    '<p:presentation xmlns:p="urn:p" xmlns:r="urn:r"><p:sldIdLst><p:sldId id="9" r:id="r2"/><p:sldId id="8" r:id="r1"/></p:sldIdLst></p:presentation>',
  'ppt/_rels/presentation.xml.rels': relations({ r1: 'slides/slide1.xml', r2: 'slides/slide2.xml' }),
  'ppt/slides/slide1.xml': slide('Second in order'),
  'ppt/slides/slide2.xml': slide('First in order'),
};

describe('files', () => {
  const server = new Server();
  let v: Visitor;
  let address = '';
  const folder = (): string => join(server.data, 'users/default/threads', address.slice('/c/'.length), 'user-data');
  const put = (path: string, content: string | Buffer): void => {
    mkdirSync(join(folder(), path, '..'), { recursive: true });
    writeFileSync(join(folder(), path), content);
  };
  beforeAll(() => server.start());
  afterAll(async () => {
    await closeBrowser();
    await server.close();
  });
  afterEach(() => v.close());
  /** A task with files. */
  const begin = async (options = {}): Promise<Visitor> => {
    v = await visit(server, options);
    address = `/c/${await server.task('make a report')}`;
    await v.to(address);
    await v.sees('The report is there.');
    return v;
  };
  const show = (file: string): Promise<unknown> => v.to(`${address}?panel=files&file=${file}`);
  const changeIt = async (): Promise<void> => {
    await v.page.locator('[data-composer]').fill('change it');
    await v.page.keyboard.press('Enter');
    await v.sees('It is changed.');
  };

  it('that are handed over are cards, which open the panel; Back closes it', async () => {
    v = await visit(server);
    const { page } = v;
    await v.say('make a report'); // which is seen as it is made
    await page
      .getByRole('list', { name: 'Files of this answer' })
      .getByRole('button', { name: 'Open report.md' })
      .click();
    expect(new URL(page.url()).search).toBe('?panel=files&file=outputs%2Freport.md');
    await page.locator('.panel').getByRole('cell', { name: '73,969' }).waitFor();
    await page.getByRole('button', { name: 'Source' }).click();
    await page.locator('.panel .filelines').getByText('| 2024-12 | 73,969 |').waitFor();
    const saved = page.waitForEvent('download');
    await page.locator('.given').getByRole('link', { name: 'Download chart.svg' }).click();
    expect((await saved).suggestedFilename()).toBe('chart.svg');
    await page.goBack();
    await page.locator('.panel').waitFor({ state: 'detached' });
  });

  it('stand in a tree with who made them, which is walked through by keys, and come as a ZIP', async () => {
    const { page } = await begin();
    await page.getByRole('button', { name: 'Panel' }).click();
    await page.getByRole('tab', { name: 'Files 6' }).click();
    const tree = page.getByRole('navigation', { name: 'All files' });
    await tree.getByRole('button', { name: 'index.html' }).waitFor();
    const names = (await tree.locator('.row > .cut').allTextContents()).join(' ');
    expect(names).toBe('outputs site index.html chart.svg packed.bin report.md workspace best_months.py data.json');
    expect(await tree.getByRole('button', { name: 'report.md' }).textContent()).toContain('Pudu');
    expect(await tree.getByText('changed in this run').count()).toBe(6);
    await tree.getByRole('button', { name: 'site' }).focus();
    await page.keyboard.press('ArrowLeft');
    await tree.getByRole('button', { name: 'index.html' }).waitFor({ state: 'detached' });
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('img', { name: 'chart.svg' }).waitFor();
    await page.getByRole('button', { name: 'All files' }).click();
    const saved = page.waitForEvent('download');
    await page.getByRole('link', { name: /as a ZIP/ }).click();
    expect((await saved).suggestedFilename()).toMatch(/\.zip$/);
  });

  it('are shown by their kinds', async () => {
    const { page } = await begin();
    const panel = page.locator('.panel');
    put('outputs/table.csv', `name;n\n"a; b";1\n${'x;2\n'.repeat(600)}`);
    put('outputs/sound.wav', Buffer.from('RIFF$\0\0\0WAVEfmt ', 'latin1'));
    put('outputs/film.mp4', Buffer.alloc(10));
    put('outputs/paper.pdf', '%PDF-1.4\n');
    put('outputs/long.txt', `${'x'.repeat(99)}\n`.repeat(3_000));
    put('outputs/nothing.txt', '');
    await show('outputs/table.csv');
    await panel.getByRole('cell', { name: 'a; b' }).waitFor();
    expect(await panel.locator('tbody tr').count()).toBe(500);
    await panel.locator('.filecells').evaluate((e) => e.scrollTo(0, 9999));
    expect(await panel.locator('th').first().isVisible()).toBe(true);
    await show('workspace/data.json');
    await panel.getByText('"whole": true').waitFor();
    await show('outputs/sound.wav');
    await panel.locator('audio').waitFor();
    await show('outputs/film.mp4');
    await panel.locator('video').waitFor();
    await show('outputs/long.txt');
    await panel.getByText(/The first 250 KB are shown/).waitFor();
    await show('outputs/nothing.txt');
    await panel.getByText('The file is empty.').waitFor();
    await show('outputs/packed.bin');
    await panel.getByText('Files of the kind BIN cannot be shown here.').waitFor();
    await show('outputs/none.md');
    await panel.getByText('This file is not there any more.').waitFor();
  });

  it('of an office show what is written in them', async () => {
    const { page } = await begin();
    const panel = page.locator('.panel');
    put('outputs/book.xlsx', zipped(book));
    put('outputs/letter.docx', zipped({ 'word/document.xml': letter }));
    put('outputs/talk.pptx', zipped(talk));
    put('outputs/broken.docx', 'PK nothing');
    await show('outputs/book.xlsx');
    await panel.getByRole('columnheader', { name: 'Month' }).waitFor();
    expect(await panel.locator('tbody tr').first().locator('td').allInnerTexts()).toEqual([
      '2024-12-01',
      '',
      '73969.5',
      'TRUE',
    ]);
    await panel.getByRole('button', { name: 'Notes' }).click();
    await panel.getByRole('columnheader', { name: 'Only words & more' }).waitFor();
    await show('outputs/letter.docx');
    await panel.getByRole('heading', { name: 'Three best months' }).waitFor();
    expect(await panel.locator('.prose strong').innerText()).toBe('bold');
    expect(await panel.locator('.prose td').allInnerTexts()).toEqual(['2024-12', '73,969']);
    expect(await panel.locator('.prose li').innerText()).toBe('A point');
    await show('outputs/talk.pptx');
    await panel.getByText('Second in order').waitFor();
    expect(await panel.locator('.slides li b').allInnerTexts()).toEqual(['First in order', 'Second in order']);
    await show('outputs/broken.docx');
    await panel.getByText(/could not be read/).waitFor();
  });

  it('stand in a panel as wide as somebody has made it, and changes in two columns where they are wanted', async () => {
    const { page } = await begin();
    await changeIt();
    await v.to(`${address}?panel=changes`);
    const edge = page.getByRole('separator');
    const width = async (): Promise<number> => Math.round((await page.locator('.panel').boundingBox())?.width ?? 0);
    await page.locator('.lines').first().waitFor();
    expect(await width()).toBe(560);
    await edge.focus();
    await page.keyboard.press('ArrowLeft');
    await expect.poll(width).toBe(584);
    const box = (await edge.boundingBox()) ?? { x: 0, y: 0 };
    await page.mouse.move(box.x + 4, 400);
    await page.mouse.down();
    await page.mouse.move(box.x - 96, 400, { steps: 4 });
    await page.mouse.up();
    await expect.poll(width).toBe(684);
    await page.getByRole('button', { name: 'Two' }).click();
    const report = page.getByRole('region', { name: 'outputs/report.md', exact: true });
    await report.locator('.lines.split td.a ins', { hasText: 'units' }).waitFor();
    await page.reload();
    await report.locator('.lines.split td.d').first().waitFor();
    expect(await width()).toBe(684);
    await page.getByRole('tab', { name: 'Run' }).click();
    expect(await width()).toBe(384);
    await page.getByRole('tab', { name: 'Changes' }).click();
    await edge.dblclick();
    await expect.poll(width).toBe(560);
    await page.getByRole('button', { name: 'One column' }).click();
    await report.locator('.lines:not(.split) ins').first().waitFor();
  });

  it('that are pages run in a frame of nobody', async () => {
    const { page } = await begin();
    await show('outputs/site/index.html');
    const frame = page.frameLocator('.panel iframe');
    await frame.getByRole('heading', { name: 'A page of its own' }).waitFor();
    expect(await frame.locator('body').getAttribute('data-ran')).toBe('yes');
    const inside = page.frames().find((f) => f.url().includes('/preview/'));
    expect(await inside?.evaluate(() => self.origin)).toBe('null');
  });

  it('are shown while they are written, and anew when a run has changed them', async () => {
    const { page } = await begin();
    await show('outputs/long.md');
    await page.locator('[data-composer]').fill('write slowly');
    await page.keyboard.press('Enter');
    await page.locator('.panel').getByText('Pudu is writing this file').waitFor();
    await page.locator('.panel').getByText('Paragraph number 3 of').waitFor();
    await v.sees('It is written.');
    await page.locator('.panel').getByText('Paragraph number 59 of').waitFor();
    await page.locator('.panel').getByText('Pudu is writing this file').waitFor({ state: 'detached' });
    await page.locator('.given').last().getByRole('button', { name: 'Open long.md' }).waitFor();
    await show('outputs/report.md');
    await changeIt();
    await page.locator('.panel').getByText('The average month makes 45,196.').waitFor();
    await page.locator('.panel').getByText('2/2').waitFor();
    await page.getByRole('button', { name: 'Older version' }).click();
    await page.locator('.panel').getByText('The average month makes 45,196.').waitFor({ state: 'detached' });
    await page.locator('.panel').getByText('1/2').waitFor();
  });

  it('that a run changed are compared, and put back', async () => {
    const { page } = await begin();
    const before = readFileSync(join(folder(), 'outputs/report.md'), 'utf8');
    await changeIt();
    await v.to(`${address}?panel=changes`);
    const report = page.getByRole('region', { name: 'outputs/report.md', exact: true });
    await report.locator('ins', { hasText: 'units' }).waitFor();
    await page
      .getByRole('region', { name: 'workspace/data.json', exact: true })
      .getByRole('button', { name: 'Bring back' })
      .waitFor();
    await report.getByRole('button', { name: 'Put back' }).click();
    await report.getByText('Undo them? 1 file put back.').waitFor();
    await report.getByRole('button', { name: 'Undo', exact: true }).click();
    await report.getByText('1 file undone.').waitFor();
    expect(readFileSync(join(folder(), 'outputs/report.md'), 'utf8')).toBe(before);
    await report.getByRole('button', { name: 'Take that back' }).click();
    await report.getByText('That is as it was again.').waitFor();
    expect(readFileSync(join(folder(), 'outputs/report.md'), 'utf8')).toContain('45,196');
    await page.getByRole('button', { name: 'Undo this run’s changes' }).click();
    await page.getByText('Undo them? 3 files put back, 1 file removed.').waitFor();
    await page.locator('.changes > .undoing').getByRole('button', { name: 'Undo', exact: true }).click();
    await page.getByText('4 files undone.').waitFor();
    expect(readFileSync(join(folder(), 'outputs/report.md'), 'utf8')).toBe(before);
  });

  it('that were changed since are a conflict, and stay until somebody says otherwise', async () => {
    const { page } = await begin();
    await changeIt();
    put('outputs/report.md', 'mine\n');
    await v.to(`${address}?panel=changes`);
    await page.getByRole('button', { name: 'Undo this run’s changes' }).click();
    await page.getByText('1 file changed again since. Nothing was undone.').waitFor();
    await page.locator('.clashes').getByText('outputs/report.md').waitFor();
    expect(readFileSync(join(folder(), 'outputs/report.md'), 'utf8')).toBe('mine\n');
    await page.getByRole('button', { name: 'Undo anyway' }).click();
    await page.getByText('4 files undone.').waitFor();
    expect(readFileSync(join(folder(), 'outputs/report.md'), 'utf8')).toContain('# Three best months');
  });

  it('are edited, kept over a reload, and compared when somebody else was faster', async () => {
    const { page } = await begin();
    const edit = async (): Promise<void> => {
      await page.locator('.panel').getByRole('button', { name: 'Edit', exact: true }).click();
      await page.getByLabel('Text of the file').fill('mine\n');
    };
    await show('outputs/report.md');
    await edit();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.locator('.panel .prose').getByText('mine').waitFor();
    expect(readFileSync(join(folder(), 'outputs/report.md'), 'utf8')).toBe('mine\n');

    await page.locator('.panel').getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByLabel('Text of the file').fill('mine again\n');
    put('outputs/report.md', 'theirs\n');
    await page.reload();
    await page.locator('.panel').getByRole('button', { name: 'Edit', exact: true }).click();
    expect(await page.getByLabel('Text of the file').inputValue()).toBe('mine again\n');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('It changed while you edited').waitFor();
    await page.getByRole('button', { name: 'Compare' }).click();
    await page
      .locator('.fileclash del', { hasText: 'theirs' })
      .or(page.locator('.fileclash tr.d', { hasText: 'theirs' }))
      .first()
      .waitFor();
    expect(readFileSync(join(folder(), 'outputs/report.md'), 'utf8')).toBe('theirs\n');
    await page.getByRole('button', { name: 'Keep mine' }).click();
    await page.locator('.panel .prose').getByText('mine again').waitFor();
    expect(readFileSync(join(folder(), 'outputs/report.md'), 'utf8')).toBe('mine again\n');
  });

  it('have nothing that axe finds, and fit', async () => {
    const { page } = await begin({ bypassCSP: true });
    await changeIt();
    put('outputs/table.csv', 'name,n\na,1\nb,2\n');
    const places: [string, string, string][] = [
      ['tree', '?panel=files', '.filetree'],
      ['file', '?panel=files&file=outputs/report.md', '.panel .prose'],
      ['table', '?panel=files&file=outputs/table.csv', '.panel table'],
      ['code', '?panel=files&file=workspace/best_months.py', '.filelines'],
      ['changes', '?panel=changes', '.lines'],
    ];
    for (const width of [1440, 390, 320]) {
      await page.setViewportSize({ width, height: 844 });
      for (const [name, query, until] of places) {
        await v.to(address + query);
        await page.locator(until).first().waitFor();
        expect(
          await page.evaluate(() => document.documentElement.scrollWidth - innerWidth),
          `${name} at ${width} px scrolls sideways`,
        ).toBeLessThanOrEqual(0);
        if (width === 320) continue;
        const taken = async (colorScheme: string) => picture(page, `files-${name}-${colorScheme}-${width}`);
        expect(await foundInBoth(page, taken), `${name} at ${width}`).toEqual([]);
      }
    }
  });
});
