// Browser scenarios for `holdall serve`, with Chromium and playwright-core:
//
//   node web/test/scenarios.mjs ADDRESS_WITH_TOKEN --params PARAMS.json [--only 1,2,3] [--shots FOLDER]
//
// The server and its files come from outside. A scenario fails on any console error, report of the content security
// policy, or answer with a status of 400 and above that it did not announce with `allow(status)`. A scenario without its
// parameters fails, too, unless `--only` leaves it out. Exit codes: 0 all passed, 1 one failed, 2 wrong use.
//
// PARAMS.json has a key for each scenario; `file` is a name as in the list of files of the page. The first file of the
// list must open without an error, because the page shows it at first.
//   chromium   path of the browser; default /usr/bin/chromium
//   files      { NAME: ["/path", ...] or null }: files that open without an error, with their datasets if given   (1)
//   picture    { file, path, png, viewport: [w, h], stretch, range, cmap, origin }: `png` is the path of a picture with
//              a pixel for each value, drawn elsewhere. The page asks for such a picture of planes that are larger
//              than the room for them and at most twice as large: 700 x 1000 values at 1280 x 800             (2)
//   heatmap    { file, path, values }: `values` are the rows of the two-dimensional dataset                      (3)
//   particles  { file }: a trajectory of at least 20 frames, of which no two look the same                       (4)
//   curve      { file, name }: the name of a group below /curves                                                 (5)
//   types      [{ file, path, shown }]: texts that Values shows of a dataset, in its first view                    (6)
//   damaged    { file, verdict, opens }: what a quick check finds; `opens` is false if the file cannot be opened (7)
//   large      { file, path }: a plane that is larger than the limit of one answer                               (8)
//   changed    { file, disk }: the path on disk of a file, which the scenario touches                            (11)
//   particles  serves scenario 12, too, in a browser without WebGL                                               (12)
import { readdirSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { watch } from './watch.mjs';

const WEBGL = ['--use-angle=swiftshader', '--enable-unsafe-swiftshader'];

async function loadScenarios() {
  const folder = new URL('.', import.meta.url);
  const names = readdirSync(folder).filter((name) => /^\d\d-.*\.mjs$/.test(name)).sort();
  return Promise.all(names.map(async (name) => ({ number: Number(name.slice(0, 2)), ...(await import(new URL(name, folder))) })));
}

/** Runs one scenario in a browser of its own. Returns the problems that were found. */
async function runScenario(scenario, address, params, shots) {
  if (params[scenario.key] == null) return [`no parameters ${scenario.key}`];
  const browser = await chromium.launch({
    executablePath: params.chromium ?? '/usr/bin/chromium',
    args: ['--no-sandbox', ...(scenario.withoutWebgl ? ['--disable-3d-apis'] : WEBGL)],
  });
  const problems = [];
  try {
    const viewport = { width: 1280, height: 800 };
    const context = await browser.newContext({ viewport, colorScheme: 'light' });
    const page = await context.newPage();
    page.setDefaultTimeout(15_000);
    const { allow, settled } = await watch(page, problems);
    try {
      await page.goto(address);
      await page.waitForSelector('main');
      await scenario.run({ page, params: params[scenario.key], allow, settled, check: (is, text) => { if (!is) problems.push(text); } });
    } catch (error) {
      problems.push(error.message.split('\n').slice(0, 3).join(' '));
    }
    if (shots) await page.screenshot({ path: `${shots}/${String(scenario.number).padStart(2, '0')}.png` });
  } finally {
    await browser.close();
  }
  return problems;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { params: { type: 'string' }, only: { type: 'string' }, shots: { type: 'string' } },
});
if (positionals.length !== 1 || !values.params) {
  console.error('usage: scenarios.mjs ADDRESS --params PARAMS.json [--only 1,2,3] [--shots FOLDER]');
  process.exit(2);
}
const params = JSON.parse(readFileSync(values.params, 'utf8'));
const only = values.only?.split(',').map(Number);
const all = await loadScenarios();
const unknown = (only ?? []).filter((number) => !all.some((one) => one.number === number));
if (unknown.length > 0) {
  console.error(`no scenario ${unknown.join(', ')}`);
  process.exit(2);
}
let failed = 0;
for (const scenario of all.filter(({ number }) => !only || only.includes(number))) {
  const start = Date.now();
  const problems = await runScenario(scenario, positionals[0], params, values.shots);
  const seconds = ((Date.now() - start) / 1000).toFixed(1);
  console.log(`${problems.length === 0 ? 'ok    ' : 'FAILED'} ${scenario.number} ${scenario.title} (${seconds} s)`);
  for (const problem of problems) console.log(`       ${problem}`);
  if (problems.length > 0) failed += 1;
}
process.exit(failed > 0 ? 1 : 0);
