import { openFile, openPath, openTab, shownErrors } from './steps.mjs';

export const title = 'a logged quantity is a curve over step';
export const key = 'curve';

export async function run({ page, params, settled, check }) {
  await openFile(page, settled, params.file);
  await openTab(page, settled, 'values');
  await openPath(page, settled, `/curves/${params.name}`);
  await page.getByRole('tab', { name: 'NX Line' }).waitFor();
  await page.locator('.values svg .visx-axis-label').first().waitFor();
  const labels = await page.locator('.values svg .visx-axis-label').allTextContents();
  check(labels[0] === 'step', `labels of the axes: ${labels.join(', ')}`);
  await openTab(page, settled, 'particles');
  await page.getByLabel('Curve', { exact: true }).selectOption(params.name);
  await settled();
  check(await page.locator('.curve-box canvas').count() === 1, 'no curve below the particles');
  check((await shownErrors(page)).length === 0, (await shownErrors(page)).join('; '));
}
