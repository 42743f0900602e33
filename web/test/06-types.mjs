import { openFile, openPath, openTab, shownErrors } from './steps.mjs';

export const title = 'Values shows values of every type';
export const key = 'types';

export async function run({ page, params, settled, check }) {
  let current = null;
  for (const { file, path, shown } of params) {
    if (file !== current) {
      await openFile(page, settled, file);
      await openTab(page, settled, 'values');
      current = file;
    }
    await openPath(page, settled, path);
    const matrix = page.getByRole('tab', { name: 'Matrix', exact: true });
    if (await matrix.count() > 0) {
      await matrix.click();
      await settled();
    }
    const exact = page.getByRole('radio', { name: 'Exact' }).or(page.getByRole('button', { name: 'Exact', exact: true }));
    if (await exact.count() > 0) await exact.first().click();
    await page.waitForTimeout(200);
    const text = (await page.innerText('.values')).replaceAll('−', '-');
    for (const one of shown) check(text.includes(one), `${file}, ${path}: ${JSON.stringify(one)} is not shown`);
    for (const error of await shownErrors(page)) check(false, `${file}, ${path}: ${error}`);
  }
}
