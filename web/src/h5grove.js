// Values and metadata by the calls of h5grove that h5web uses too.
import { call, callJson } from './api.js';

const INTEGER = 0;
const FLOAT = 1;
const ENUM = 8;

const INTEGER_ARRAYS = {
  1: [Uint8Array, Int8Array], 2: [Uint16Array, Int16Array], 4: [Uint32Array, Int32Array], 8: [BigUint64Array, BigInt64Array],
};

/** Array type of the binary answer for an HDF5 type, or null if values come as JSON. `dtype=safe` widens float 2 and 16. */
function arrayOf(type) {
  if (type.class === INTEGER) return INTEGER_ARRAYS[type.size]?.[type.sign === 1 ? 1 : 0] ?? null;
  if (type.class === FLOAT) return { 2: Float32Array, 4: Float32Array, 8: Float64Array, 16: Float64Array }[type.size] ?? null;
  if (type.class === ENUM) return arrayOf(type.base);
  return null;
}

export const loadMeta = (file, path, signal) => callJson('h5grove/meta', { file, path }, signal);

/** Loads values of a dataset: a typed array, or the JSON of the server for types without one. */
export async function loadValues(file, path, type, selection, signal) {
  const ArrayType = arrayOf(type);
  const params = ArrayType ? { file, path, selection, format: 'bin', dtype: 'safe' } : { file, path, selection, flatten: 'true' };
  const response = await call('h5grove/data', params, signal);
  return ArrayType ? new ArrayType(await response.arrayBuffer()) : response.json();
}
