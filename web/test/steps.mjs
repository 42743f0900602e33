// Steps that several scenarios take.

/** Chooses a file and waits until it is open, or its error is shown. */
export async function openFile(page, settled, file) {
  await page.selectOption('.files select', file);
  await settled();
  await page.waitForSelector('main[data-tab], main .problem');
}

export async function openTab(page, settled, tab) {
  await page.click(`#tab-${tab}`);
  await page.waitForSelector(`main[data-tab="${tab}"]`);
  await settled();
}

/** Opens a path in the tree of Values, group by group. */
export async function openPath(page, settled, path) {
  const names = path.split('/').slice(1);
  for (let depth = 1; depth <= names.length; depth++) {
    const item = page.locator(`[data-path="/${names.slice(0, depth).join('/').replaceAll('"', '\\"')}"]`);
    await item.waitFor();
    const isOpen = await item.getAttribute('aria-expanded');
    if (depth === names.length || isOpen !== 'true') await item.click();
    await settled();
  }
}

/** Sentences of the errors that are shown, in the tabs of this page and in h5web. */
export function shownErrors(page) {
  return page.$$eval('main [role="alert"], .values [class*="_error_"], .values [class*="_detailedError_"]', (found) => found.map((one) => one.innerText));
}
