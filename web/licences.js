// Vite plugin that writes `licences.txt`: name, version, licence and text of every package in the bundle.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const ACCEPTED = new Set(['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', '0BSD', 'Unlicense', 'CC0-1.0']);
const LICENCE_FILE = /^(licen[cs]e|copying|unlicense)([-.].*)?$/i;
const MIT_TEXT = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;

/** Returns the folder and manifest of the package that contains a module, or null for modules of our own. */
function packageOf(id) {
  const path = id.replace(/^\0/, '').split('?')[0];
  if (!path.includes('/node_modules/')) return null;
  for (let folder = dirname(path); folder.includes('/node_modules/'); folder = dirname(folder)) {
    const file = join(folder, 'package.json');
    if (!existsSync(file)) continue;
    const manifest = JSON.parse(readFileSync(file, 'utf8'));
    if (manifest.name && manifest.version) return { folder, manifest };
  }
  throw new Error(`licences: no package.json above ${path}`);
}

/** Checks that an SPDX expression allows one of the accepted licences. `A OR B` is accepted if one of them is. */
function isAccepted(expression) {
  return expression.replace(/[()]/g, '').split(/ OR /).some((one) => one.split(/ AND /).every((name) => ACCEPTED.has(name)));
}

/** Returns the licence text of a package; for MIT packages without a file, the text with the holder of the manifest. */
function textOf({ folder, manifest }, licence) {
  const files = readdirSync(folder).filter((name) => LICENCE_FILE.test(name)).sort();
  const texts = files.map((name) => readFileSync(join(folder, name), 'utf8').replace(/\r\n/g, '\n').trim());
  if (texts.length > 0) return texts.join('\n\n');
  if (licence !== 'MIT') throw new Error(`licences: ${manifest.name} has no licence file, and is not MIT`);
  const holder = typeof manifest.author === 'string' ? manifest.author : manifest.author?.name;
  return `(The package has no licence file. Its manifest names MIT and ${holder ?? `the authors of ${manifest.name}`}.)\n\n${MIT_TEXT}`;
}

export function licences() {
  const modules = new Set();
  return {
    name: 'licences',
    apply: 'build',
    moduleParsed({ id }) { if (id.endsWith('.css')) modules.add(id); },
    generateBundle(_options, bundle) {
      for (const chunk of Object.values(bundle)) {
        for (const [id, { renderedLength }] of Object.entries(chunk.modules ?? {})) if (renderedLength > 0) modules.add(id);
      }
      const found = new Map();
      for (const id of modules) {
        const one = packageOf(id);
        if (one) found.set(`${one.manifest.name} ${one.manifest.version}`, one);
      }
      const parts = [...found.keys()].sort().map((title) => {
        const licence = found.get(title).manifest.license;
        if (typeof licence !== 'string' || !isAccepted(licence)) throw new Error(`licences: ${title}: licence ${JSON.stringify(licence)} is not in the list`);
        return `${title}\nLicence: ${licence}\n\n${textOf(found.get(title), licence)}\n`;
      });
      if (parts.length < 3) throw new Error(`licences: only ${parts.length} packages found in the bundle`);
      const head = `Packages in the page of holdall serve (${parts.length}), with their licences.\n`;
      this.emitFile({ type: 'asset', fileName: 'licences.txt', source: [head, ...parts].join(`\n${'='.repeat(100)}\n\n`) });
    },
  };
}
