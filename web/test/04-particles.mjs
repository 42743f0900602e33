import { createHash } from 'node:crypto';
import { openFile, openTab } from './steps.mjs';

export const title = 'playing a trajectory shows 20 different frames';
export const key = 'particles';

const FRAMES = 20;
const MAX_SHOTS = 120;

export async function run({ page, params, settled, check }) {
  await openFile(page, settled, params.file);
  await openTab(page, settled, 'particles');
  const canvas = page.locator('.scene canvas');
  await canvas.waitFor();
  await page.getByRole('button', { name: 'Play' }).click();
  const pictures = new Set();
  const frames = new Set();
  for (let shot = 0; shot < MAX_SHOTS && (pictures.size < FRAMES || frames.size < FRAMES); shot++) {
    frames.add(await canvas.getAttribute('data-frame'));
    pictures.add(createHash('sha256').update(await canvas.screenshot()).digest('hex'));
  }
  await page.getByRole('button', { name: 'Pause' }).click();
  check(pictures.size >= FRAMES, `only ${pictures.size} different pictures`);
  check(frames.size >= FRAMES, `only ${frames.size} different frames`);
  check(/frame \d+ of \d+/.test(await page.getByTestId('frame').innerText()), 'no counter of frames');
}
