import { openFile, openTab } from './steps.mjs';

export const title = 'Verify of a damaged file is red, and the page goes on';
export const key = 'damaged';

export async function run({ page, params, settled, check, allow }) {
  // Values of a damaged dataset are an error, which React logs.
  allow(422);
  allow(/^Error: /);
  for (const { file, verdict, opens } of [params].flat()) {
    await openFile(page, settled, file);
    await openTab(page, settled, 'verify');
    const box = page.locator('.verdict');
    await box.waitFor();
    const found = await box.getAttribute('data-verdict');
    check(found === verdict, `${file}: verdict ${found}, expected ${verdict}`);
    const [red, green] = (await box.evaluate((one) => getComputedStyle(one).backgroundColor)).match(/\d+/g).map(Number);
    check(red > green, `${file}: the verdict is not red`);
    check(await page.locator('.findings .error').count() > 0, `${file}: no finding`);
    const range = page.locator('.findings .error .link').first();
    if (opens !== false && await range.count() > 0) {
      await range.click();
      await settled();
      await page.locator('.segment.fault').first().waitFor();
      check(await page.locator('.segment[aria-selected="true"]').count() === 1, `${file}: no row is selected in Bytes`);
    }
    if (opens !== false) {
      await openTab(page, settled, 'values');
      check(await page.locator('[role="treeitem"]').count() > 0, `${file}: no tree in Values afterwards`);
    }
  }
}
