import { readFileSync } from 'node:fs';
import { openFile, openTab, shownErrors } from './steps.mjs';

export const title = 'the picture has size and centre of one drawn elsewhere';
export const key = 'picture';

/** Width, height and the centre pixel of a picture, by the browser. */
const facts = (page, source) => page.evaluate(async (url) => {
  const image = new Image();
  image.src = url;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = image.naturalWidth;
  canvas.height = image.naturalHeight;
  const context = canvas.getContext('2d');
  context.drawImage(image, 0, 0);
  const centre = context.getImageData(Math.floor(canvas.width / 2), Math.floor(canvas.height / 2), 1, 1).data;
  return `${canvas.width} x ${canvas.height}, centre ${[...centre].join(' ')}`;
}, source);

export async function run({ page, params, settled, check }) {
  const { file, path, png, viewport, ...look } = params;
  if (viewport) await page.setViewportSize({ width: viewport[0], height: viewport[1] });
  await openFile(page, settled, file);
  await openTab(page, settled, 'picture');
  await page.locator(`.datasets button[title="${path}"]`).click();
  const labels = { stretch: 'Stretch', range: 'Range', cmap: 'Colours', origin: 'First row' };
  for (const [name, value] of Object.entries(look)) await page.getByLabel(labels[name], { exact: true }).selectOption(value);
  await page.waitForTimeout(300);
  await settled();
  await page.waitForSelector('.picture[aria-busy="false"] .picture-image img');
  check((await shownErrors(page)).length === 0, (await shownErrors(page)).join('; '));
  const shown = await facts(page, await page.getAttribute('.picture-image img', 'src'));
  const expected = await facts(page, `data:image/png;base64,${readFileSync(png).toString('base64')}`);
  check(shown === expected, `the picture is ${shown}, expected ${expected}`);
}
