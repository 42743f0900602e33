import { openFile, openPath, openTab, shownErrors } from './steps.mjs';

export const title = 'a plane beyond the limit is refused with a hint, and Picture shows it';
export const key = 'large';

export async function run({ page, params, settled, check, allow }) {
  allow(413);
  allow(/^Error: .*limit/);
  await openFile(page, settled, params.file);
  await openTab(page, settled, 'values');
  await openPath(page, settled, params.path);
  await settled();
  check((await shownErrors(page)).some((text) => /limit/.test(text)), `no sentence of the limit: ${await shownErrors(page)}`);
  const start = Date.now();
  await page.click('#tab-picture');
  await page.waitForSelector('.picture-image img', { timeout: 20_000 });
  const seconds = (Date.now() - start) / 1000;
  // Said, and not held against a bound: machines differ.
  console.log(`       the picture took ${seconds} s`);
}
