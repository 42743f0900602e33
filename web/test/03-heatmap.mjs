import { openFile, openPath, openTab } from './steps.mjs';

export const title = 'the heat map in Values shows the value under the cursor';
export const key = 'heatmap';

export async function run({ page, params, settled, check }) {
  const { file, path, values } = params;
  await openFile(page, settled, file);
  await openTab(page, settled, 'values');
  await openPath(page, settled, path);
  await page.getByRole('tab', { name: 'Heatmap', exact: true }).click();
  await settled();
  const canvas = await page.locator('.values canvas').first().boundingBox();
  for (const [x, y] of [[0.5, 0.5], [0.45, 0.55]]) {
    await page.mouse.move(canvas.x + canvas.width * x, canvas.y + canvas.height * y, { steps: 3 });
    const tip = page.locator('.visx-tooltip');
    await tip.waitFor();
    await page.waitForTimeout(200);
    const text = await tip.innerText();
    const [, column, row, shown] = /x=(\d+), y=(\d+)\s+([^\s(]+)/.exec(text.replaceAll('−', '-')) ?? [];
    const expected = values[row]?.[column];
    const isSame = Math.abs(Number(shown) - Number(expected)) <= 1e-4 * Math.max(1e-12, Math.abs(expected));
    check(expected !== undefined && isSame, `tooltip ${JSON.stringify(text)}, expected ${expected}`);
  }
}
