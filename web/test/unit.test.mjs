// Tests of the parts that need no browser: node --test web/test/unit.test.mjs
import assert from 'node:assert/strict';
import { test } from 'node:test';
import realNdarray from 'ndarray';
import realOps from 'ndarray-ops';
import ndarray from '../shim/ndarray.js';
import { assign } from '../shim/ndarray-ops.js';
import { clampCrop, initialPlane, movedCrop, parseSelection, selectionOf } from '../src/tabs/plane.js';
import { findLines, parseLines, visibleLines, withParents } from '../src/tabs/tree-lines.js';

globalThis.location = { href: 'http://127.0.0.1/', hash: '' };
const { bondsInside, boxEdges, parseFrame } = await import('../src/tabs/particles-data.js');
const { findSegment } = await import('../src/tabs/segments.js');

const count = (length) => Float64Array.from({ length }, (_, i) => i);

test('the shim picks, transposes and copies as ndarray and ndarray-ops do', () => {
  const picks = [[null, null, null], [1, null, null], [null, 2, null], [-1, null, 3], [1, 2, null], [0, 1, 2]];
  const orders = { 3: [[0, 1, 2], [2, 1, 0], [1, 2, 0]], 2: [[0, 1], [1, 0]], 1: [[0]], 0: [[]] };
  for (const pick of picks) {
    const ours = ndarray(count(60), [3, 4, 5]).pick(...pick);
    const theirs = realNdarray(count(60), [3, 4, 5]).pick(...pick);
    for (const order of orders[ours.dimension]) {
      const [a, b] = [ours.transpose(...order), theirs.transpose(...order)];
      assert.deepEqual(a.shape, [...b.shape]);
      assert.equal(a.size, b.size);
      const [copyA, copyB] = [ndarray(count(a.size), a.shape), realNdarray(count(b.size), [...b.shape])];
      assign(copyA, a);
      realOps.assign(copyB, b);
      assert.deepEqual(copyA.data, copyB.data, `${pick} ${order}`);
    }
  }
  assert.equal(ndarray(new Uint16Array(4)).dtype, realNdarray(new Uint16Array(4)).dtype);
  assert.equal(ndarray(['a']).dtype, 'array');
  assert.equal(ndarray(count(6), [2, 3]).get(1, 2), 5);
});

test('selections are written and read as numpy has them', () => {
  const plane = initialPlane([5, 60, 80]);
  assert.deepEqual(plane, { first: 1, leading: [2], crop: [[0, 60], [0, 80]] });
  assert.equal(selectionOf(plane, [5, 60, 80]), '2,:,:');
  assert.equal(selectionOf({ first: 1, leading: [4], crop: [[1, 9], [0, 80]] }, [5, 60, 80]), '4,1:9,:');
  assert.deepEqual(parseSelection('4, 1:9, :', [5, 60, 80]), { first: 1, leading: [4], crop: [[1, 9], [0, 80]] });
  assert.equal(selectionOf(initialPlane([512, 400, 100], 'F'), [512, 400, 100]), ':,:,50');
  assert.deepEqual(parseSelection('1:9, :, 7', [512, 400, 100], 0), { first: 0, leading: [7], crop: [[1, 9], [0, 400]] });
  assert.deepEqual(parseSelection('3:,:7', [10, 20]), { first: 0, leading: [], crop: [[3, 10], [0, 7]] });
  for (const text of ['', ':', '5,:,:', '1,:,:,:', 'x,:,:', '1,9:3,:', '1,60:,:']) assert.equal(parseSelection(text, [5, 60, 80]), null, text);
});

test('crops stay within the axes and have two elements or more', () => {
  assert.deepEqual(clampCrop([[-3, 4.2], [99.5, 99.6]], [10, 100]), [[0, 5], [98, 100]]);
  assert.deepEqual(clampCrop([[0, 1]], [1]), [[0, 1]]);
  assert.deepEqual(movedCrop([[0, 10], [90, 100]], [100, 100], [-0.2, 0.2]), [[0, 10], [90, 100]]);
  assert.deepEqual(movedCrop([[40, 60]], [100], [0], 0.5), [[45, 55]]);
});

test('lines are folded by indentation, with lists at the indent of their key', () => {
  const tree = parseLines('a:\n  b: 1\n\n  c:\n  - x\n  - y: 1\n    z: 2\nd: 2\n');
  assert.equal(tree.lines.length, 8);
  assert.deepEqual([...tree.last], [6, 1, 2, 6, 4, 6, 6, 7]);
  assert.deepEqual([...tree.parent], [-1, 0, 1, 0, 3, 3, 5, -1]);
  assert.deepEqual(visibleLines(tree, new Set([3])), [0, 1, 2, 3, 7]);
  assert.deepEqual(findLines(tree, 'Z'), [6]);
  assert.deepEqual(withParents(tree, [6]), [0, 3, 5, 6]);
});

test('boxes have the edges that HOOMD defines by lengths and tilt factors', () => {
  const edges = boxEdges([10, 8, 6, 0.5, 0.25, 0.1], 3);
  assert.equal(edges.length, 12 * 2 * 3);
  // The lowest corner is minus half of the sum of a1 = (10, 0, 0), a2 = (4, 8, 0), a3 = (1.5, 0.6, 6).
  const near = (found, expected) => found.forEach((value, k) => assert.ok(Math.abs(value - expected[k]) < 1e-6, `${found}`));
  near([...edges.slice(0, 3)], [-7.75, -4.3, -3]);
  near([...edges.slice(3, 6)], [2.25, -4.3, -3]);
  assert.equal(boxEdges([10, 8, 0, 0, 0, 0], 2).length, 4 * 2 * 3);
});

test('bonds across the periodic box are left out', () => {
  const head = { box: [10, 10, 10, 0, 0, 0], dimensions: 3 };
  const positions = Float32Array.from([-4, 0, 0, 4, 0, 0, -3, 0, 0]);
  assert.deepEqual([...bondsInside({ head, positions, bonds: Uint32Array.from([0, 1, 0, 2]) })], [0, 2]);
});

test('a frame is split at the places of its header', () => {
  const line = JSON.stringify({ count: 2, field: { label: 'f', low: 0, high: 1 }, bonds: 1 }).padEnd(71, ' ');
  const bytes = new Uint8Array(72 + 24 + 8 + 8 + 8 + 2);
  bytes.set(new TextEncoder().encode(`${line}\n`));
  new Float32Array(bytes.buffer, 72, 10).set([1, 2, 3, 4, 5, 6, 0.5, 1.5, 7, 8]);
  new Uint32Array(bytes.buffer, 112, 2).set([0, 1]);
  bytes.set([3, 1], 120);
  const frame = parseFrame(bytes.buffer);
  assert.deepEqual([...frame.positions], [1, 2, 3, 4, 5, 6]);
  assert.deepEqual([[...frame.diameters], [...frame.field], [...frame.bonds], [...frame.types]], [[0.5, 1.5], [7, 8], [0, 1], [3, 1]]);
});

test('the segment of a byte is found in any page', async () => {
  const total = 25_000;
  const all = Array.from({ length: total }, (_, i) => ({ part: null, start: 10 * i, end: 10 * i + 10 }));
  const segments = { total, load: async (page) => all.slice(page * 10_000, (page + 1) * 10_000) };
  for (const byte of [0, 9, 10, 99_999, 100_000, 249_999]) {
    assert.equal(await findSegment(segments, { range: [byte, byte + 1], part: null }), Math.floor(byte / 10));
  }
  assert.equal(await findSegment(segments, { range: [999_999, 1_000_000], part: null }), total - 1);
});
