// The plane that is drawn: two axes that are next to each other, cropped, at one index of each other axis.
//
// A plane is `{ first, leading, crop }`: the number of the first drawn axis, the indices of the axes that are not drawn, and
// the range of each drawn one. Row-major arrays are drawn along their last axes, column-major ones along their first: these
// are next to each other in the file, and what `holdall plot` draws.

/** Number of axes that are drawn. */
export const drawnAxes = (shape) => Math.min(2, shape.length);

/** Numbers of the axes that are not drawn. */
export const cutAxes = ({ first, crop }, shape) => shape.map((_, axis) => axis).filter((axis) => axis < first || axis >= first + crop.length);

/** Lengths of the drawn axes. */
export const drawnLengths = ({ first, crop }, shape) => crop.map((_, k) => shape[first + k]);

/** The whole plane in the middle of the other axes, where `holdall plot` cuts too. */
export function initialPlane(shape, order = 'C') {
  const count = drawnAxes(shape);
  const first = order === 'F' ? 0 : shape.length - count;
  const crop = shape.slice(first, first + count).map((length) => [0, length]);
  return { first, leading: cutAxes({ first, crop }, shape).map((axis) => Math.floor(shape[axis] / 2)), crop };
}

/** Indices of the cut axes and parts of the drawn ones, in the order of the axes. */
export const inOrder = ({ first, leading }, parts) => [...leading.slice(0, first), ...parts, ...leading.slice(first)];

/** Selection of the plane as numpy writes it; whole axes are `:`. */
export function selectionOf(plane, shape) {
  const lengths = drawnLengths(plane, shape);
  return inOrder(plane, plane.crop.map(([start, end], k) => (start === 0 && end === lengths[k] ? ':' : `${start}:${end}`))).join(',');
}

export function isWhole(plane, shape) {
  const lengths = drawnLengths(plane, shape);
  return plane.crop.every(([start, end], k) => start === 0 && end === lengths[k]);
}

/** Limits a crop to the axes, with at least two elements of each: of one row the server draws a line. */
export function clampCrop(crop, lengths) {
  return crop.map(([start, end], k) => {
    const from = Math.min(Math.max(0, Math.floor(start)), Math.max(0, lengths[k] - 2));
    return [from, Math.min(lengths[k], Math.max(from + 2, Math.ceil(end)))];
  });
}

/** Moves and scales a crop: `shift` in parts of its length for each axis, `zoom` below 1 shows less. */
export function movedCrop(crop, lengths, shift, zoom = 1) {
  return clampCrop(crop.map(([start, end], k) => {
    const length = Math.min(lengths[k], Math.max(1, Math.round((end - start) * zoom)));
    const middle = (start + end) / 2 + shift[k] * (end - start);
    const from = Math.min(Math.max(0, Math.round(middle - length / 2)), lengths[k] - length);
    return [from, from + length];
  }), lengths);
}

/** Reads `a:b, c:d` or one number for each cut axis; returns null for text that is none of them or leaves the axes. */
export function parseSelection(text, shape, first = shape.length - drawnAxes(shape)) {
  const parts = text.split(',').map((part) => part.trim());
  if (parts.length !== shape.length) return null;
  const drawn = parts.slice(first, first + drawnAxes(shape));
  const axes = cutAxes({ first, crop: drawn }, shape);
  if (axes.some((axis) => !/^\d+$/.test(parts[axis]) || Number(parts[axis]) >= shape[axis])) return null;
  const crop = drawn.map((part, k) => {
    const match = /^(\d*):(\d*)$/.exec(part);
    const length = shape[first + k];
    if (!match) return null;
    return [match[1] === '' ? 0 : Number(match[1]), match[2] === '' ? length : Math.min(length, Number(match[2]))];
  });
  return crop.every((range) => range && range[0] < range[1]) ? { first, leading: axes.map((axis) => Number(parts[axis])), crop } : null;
}
