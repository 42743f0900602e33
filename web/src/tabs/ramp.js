// Colours of particles: a palette for types, and viridis for a field.

/** Palette of Okabe and Ito, which colour-blind readers can tell apart. */
const TYPE_COLORS = [
  [0, 114, 178], [230, 159, 0], [0, 158, 115], [213, 94, 0], [204, 121, 167], [86, 180, 233], [240, 228, 66], [130, 130, 130],
];

/** Viridis of matplotlib at ten points. */
const VIRIDIS = [
  [68, 1, 84], [72, 40, 120], [62, 74, 137], [49, 104, 142], [38, 130, 142], [31, 158, 137], [53, 183, 121], [110, 206, 88],
  [181, 222, 43], [253, 231, 37],
];
const NOT_FINITE = [200, 200, 200];

/** Colour for a part from 0 to 1; grey for what is not finite. */
export function viridis(part) {
  if (!Number.isFinite(part)) return NOT_FINITE;
  const at = Math.min(1, Math.max(0, part)) * (VIRIDIS.length - 1);
  const low = Math.min(VIRIDIS.length - 2, Math.floor(at));
  return VIRIDIS[low].map((value, k) => Math.round(value + (at - low) * (VIRIDIS[low + 1][k] - value)));
}

export const typeColor = (type) => TYPE_COLORS[type % TYPE_COLORS.length];

/** RGB bytes of every particle, by field if one was asked for, else by type. */
export function colorsOf({ head, field, types }) {
  const colors = new Uint8Array(3 * types.length);
  if (!field) {
    for (let i = 0; i < types.length; i++) colors.set(typeColor(types[i]), 3 * i);
    return colors;
  }
  const { low, high } = head.field;
  const span = high > low ? high - low : 1;
  const table = Array.from({ length: 256 }, (_, k) => viridis(k / 255));
  for (let i = 0; i < types.length; i++) {
    const part = (field[i] - low) / span;
    colors.set(Number.isFinite(part) ? table[Math.round(255 * Math.min(1, Math.max(0, part)))] : NOT_FINITE, 3 * i);
  }
  return colors;
}
