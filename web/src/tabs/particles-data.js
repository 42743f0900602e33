// Frames of particles: the answer of the server as typed arrays, and a cache of the frames around the one shown.
import { callBuffer, Problem } from '../api.js';

const CACHE_FRAMES = 6;

/** Splits an answer: one line of JSON, then positions, diameters, field, bonds and types. */
export function parseFrame(buffer) {
  const bytes = new Uint8Array(buffer);
  const end = bytes.indexOf(10);
  if (end < 0) throw new Problem('The answer of the server has no header.', 'Load the page again.');
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(0, end)));
  let at = end + 1;
  const take = (ArrayType, length) => {
    const array = new ArrayType(buffer, at, length);
    at += array.byteLength;
    return array;
  };
  return {
    head,
    positions: take(Float32Array, 3 * head.count),
    diameters: take(Float32Array, head.count),
    field: head.field ? take(Float32Array, head.count) : null,
    bonds: take(Uint32Array, 2 * head.bonds),
    types: take(Uint8Array, head.count),
  };
}

/** Cache of frames of one file and field. `load` returns a promise; the frames used last stay. */
export function frameCache(file, field) {
  const frames = new Map();
  return function load(frame) {
    const promise = frames.get(frame) ?? callBuffer('api/particles', { file, frame, field: field || null }).then(parseFrame);
    frames.delete(frame);
    promise.catch(() => { if (frames.get(frame) === promise) frames.delete(frame); });
    frames.set(frame, promise);
    while (frames.size > CACHE_FRAMES) frames.delete(frames.keys().next().value);
    return promise;
  };
}

/** Edge vectors of a box as HOOMD defines them: a1 along x, a2 in the plane xy. */
export function boxVectors([lx, ly, lz, xy, xz, yz]) {
  return [[lx, 0, 0], [xy * ly, ly, 0], [xz * lz, yz * lz, lz]];
}

/** Pairs of points of the edges of a box around the origin; of a flat box its rectangle. */
export function boxEdges(box, dimensions) {
  const vectors = boxVectors(box);
  const axes = dimensions === 2 ? 2 : 3;
  const corner = (signs) => [0, 1, 2].map((k) => vectors.slice(0, axes).reduce((sum, vector, axis) => sum + (signs[axis] - 0.5) * vector[k], 0));
  const points = [];
  for (let low = 0; low < 2 ** axes; low++) {
    const signs = [low & 1, (low >> 1) & 1, (low >> 2) & 1];
    for (let axis = 0; axis < axes; axis++) {
      if (signs[axis] === 0) points.push(...corner(signs), ...corner(signs.map((sign, k) => (k === axis ? 1 : sign))));
    }
  }
  return Float32Array.from(points);
}

/** Bonds that do not cross the periodic box: the others would be lines through the whole picture. */
export function bondsInside({ head, positions, bonds }) {
  if (!head.box || bonds.length === 0) return bonds;
  const [lx, ly, lz, xy, xz, yz] = head.box;
  return bonds.filter((_, k) => {
    const [a, b] = [3 * bonds[k - (k % 2)], 3 * bonds[k - (k % 2) + 1]];
    const [dx, dy, dz] = [0, 1, 2].map((axis) => positions[b + axis] - positions[a + axis]);
    const fz = lz > 0 ? dz / lz : 0;
    const fy = ly > 0 ? (dy - yz * dz) / ly : 0;
    const fx = lx > 0 ? (dx - xy * (dy - yz * dz) - xz * dz) / lx : 0;
    return Math.abs(fx) <= 0.5 && Math.abs(fy) <= 0.5 && (head.dimensions === 2 || Math.abs(fz) <= 0.5);
  });
}
