import { openFile, openPath, openTab, shownErrors } from './steps.mjs';

export const title = 'every listed file opens, and its tabs show no error';
export const key = 'files';

export async function run({ page, params, settled, check }) {
  for (const [file, paths] of Object.entries(params)) {
    await openFile(page, settled, file);
    const tabs = await page.$$eval('.tabs [role="tab"]', (found) => found.map((one) => one.id.slice(4)));
    check(tabs.length >= 4, `${file}: only the tabs ${tabs.join(', ')}`);
    for (const tab of tabs) {
      await openTab(page, settled, tab);
      for (const text of await shownErrors(page)) check(false, `${file}, ${tab}: ${text}`);
      if (tab === 'values') check(await page.locator('[role="treeitem"]').count() > 0, `${file}: no tree in Values`);
      if (tab === 'tree') check(await page.locator('.tree-line').count() > 0, `${file}: no lines in Tree`);
      if (tab === 'bytes') check(await page.locator('.segments .segment').count() > 0, `${file}: no segments in Bytes`);
      if (tab === 'verify') check(await page.locator('.verdict').count() === 1, `${file}: no verdict in Verify`);
    }
    if (paths) await checkPaths({ page, settled, file, paths, check });
  }
}

/** Opens the path of each dataset in the tree of Values. */
async function checkPaths({ page, settled, file, paths, check }) {
  await openTab(page, settled, 'values');
  for (const path of paths) {
    await openPath(page, settled, path);
    for (const text of await shownErrors(page)) check(false, `${file}, ${path}: ${text}`);
  }
}
