// Numbers, sizes, shapes and types as text.

const SIZE_UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB', 'PB'];

/** Formats a count of bytes in powers of 1000: `12.3 MB`. */
export function sizeText(bytes) {
  if (bytes == null) return 'unknown size';
  let [value, unit] = [bytes, 0];
  while (value >= 1000 && unit < SIZE_UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  if (unit === 0) return bytes === 1 ? '1 byte' : `${bytes} bytes`;
  return `${value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : Math.round(value)} ${SIZE_UNITS[unit]}`;
}

/** Formats a count with commas between thousands. */
export const countText = (count) => Number(count).toLocaleString('en-US');

/** Formats a number with at most six digits. */
export function numberText(value) {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'number' || !Number.isFinite(value)) return String(value);
  if (value !== 0 && (Math.abs(value) >= 1e6 || Math.abs(value) < 1e-4)) return value.toExponential(4).replace(/\.?0+e/, 'e');
  return String(Number(value.toPrecision(6)));
}

export const shapeText = (shape) => (shape.length === 0 ? 'scalar' : shape.map(countText).join(' × '));

/** Formats a numpy type; of a record the number of its fields. */
export const dtypeText = (dtype) => (Array.isArray(dtype) ? `record of ${dtype.length}` : String(dtype));

/** Formats a half-open byte range. */
export const rangeText = ([start, end]) => `${countText(start)} – ${countText(end)}`;
