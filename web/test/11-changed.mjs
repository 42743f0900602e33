import { utimesSync } from 'node:fs';
import { openFile, openTab } from './steps.mjs';

export const title = 'a file that changes while it is shown is announced, and loaded again';
export const key = 'changed';

export async function run({ page, params, settled, check }) {
  await openFile(page, settled, params.file);
  await openTab(page, settled, 'tree');
  await page.waitForTimeout(2500);
  check(await page.locator('.changed').count() === 0, 'a change is announced before there is one');
  const now = new Date();
  utimesSync(params.disk, now, now);
  await page.locator('.changed').waitFor({ timeout: 6000 });
  await page.getByRole('button', { name: 'Load it again' }).click();
  await page.locator('.changed').waitFor({ state: 'detached' });
  await page.waitForSelector('main[data-tab="tree"]');
  await page.waitForTimeout(2500);
  check(await page.locator('.changed').count() === 0, 'the change is announced again after the file was loaded');
}
