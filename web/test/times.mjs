// Times of the page of `holdall serve`, for docs/benchmarks.md:
//
//   node web/test/times.mjs ADDRESS IMAGE LONG PLAYED [CHROMIUM]
//
// IMAGE, LONG and PLAYED are names in the list: a large image, a trajectory of many frames, and one that is played.
import { chromium } from 'playwright-core';

const [address, image, long, played, executablePath = '/usr/bin/chromium'] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'] });

/** Seconds from the choice of a file to what it shows first. */
async function first(file, selector) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 860 } });
  await page.goto(address);
  await page.waitForSelector('main');
  const start = Date.now();
  await page.locator('select').first().selectOption(file);
  await page.waitForSelector(selector, { timeout: 60_000 });
  const seconds = (Date.now() - start) / 1000;
  await page.close();
  return seconds;
}

async function median(work) {
  const found = [];
  for (let round = 0; round < 5; round += 1) found.push(await work());
  return found.sort((a, b) => a - b)[2];
}

console.log(`${image}: first picture ${await median(() => first(image, '.picture[aria-busy="false"] .picture-image img'))} s`);
console.log(`${long}: first particles ${await median(() => first(long, '[data-tab="particles"] canvas'))} s`);
const page = await browser.newPage({ viewport: { width: 1440, height: 860 } });
await page.goto(address);
await page.locator('select').first().selectOption(played);
await page.waitForSelector('[data-tab="particles"] canvas');
await page.waitForTimeout(1500);
const start = Date.now();
await page.getByRole('button', { name: 'Play', exact: true }).click();
await page.waitForFunction(() => Number(/frame (\d+)/.exec(document.body.innerText)?.[1]) >= 20, null, { timeout: 60_000 });
console.log(`${played}: 20 frames played in ${(Date.now() - start) / 1000} s`);
await browser.close();
