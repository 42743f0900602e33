import { openFile, openTab } from './steps.mjs';

export const title = 'without WebGL the server draws the particles';
export const key = 'particles';
export const withoutWebgl = true;

export async function run({ page, params, settled, check, allow }) {
  allow(/WebGL/);
  await openFile(page, settled, params.file);
  await openTab(page, settled, 'particles');
  await page.locator('.plain img').waitFor();
  const width = await page.locator('.plain img').evaluate(async (one) => {
    await one.decode();
    return one.naturalWidth;
  });
  check(width > 16, `the picture is ${width} pixels wide`);
  check(/WebGL/.test(await page.locator('.plain').innerText()), 'no sentence about WebGL');
}
