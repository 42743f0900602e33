// The pictures of docs/viewer.md, of the files of the scenarios:
//
//   node web/test/pictures.mjs ADDRESS_WITH_TOKEN --params PARAMS.json FOLDER
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { openFile, openTab } from './steps.mjs';
import { watch } from './watch.mjs';

const { values, positionals: [address, folder] } = parseArgs({ allowPositionals: true, options: { params: { type: 'string' } } });
const params = JSON.parse(readFileSync(values.params, 'utf8'));
const browser = await chromium.launch({
  executablePath: params.chromium ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
});
const page = await browser.newPage({ viewport: { width: 1024, height: 620 }, colorScheme: 'light' });
const problems = [];
const { settled, allow } = await watch(page, problems);
// Values of the damaged file cannot be read.
allow(422);
allow(/^Error: /);
await page.goto(address);
await page.waitForSelector('main');
for (const [name, file, tab] of [['picture', params.picture.file, 'picture'], ['particles', params.particles.file, 'particles'], ['verify', params.damaged.file, 'verify']]) {
  await openFile(page, settled, file);
  await openTab(page, settled, tab);
  await page.waitForTimeout(1000);
  await settled();
  await page.screenshot({ path: `${folder}/viewer-${name}.png` });
}
await browser.close();
for (const problem of problems) console.error(problem);
process.exit(problems.length > 0 ? 1 : 0);
