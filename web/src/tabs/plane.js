// The plane that is drawn: the last two axes, cropped, at one index of each axis before them.

/** Number of axes that are drawn. */
export const drawnAxes = (shape) => Math.min(2, shape.length);

/** The whole last plane, in the middle of the other axes, where `holdall plot` cuts too. */
export function initialPlane(shape) {
  const leading = shape.slice(0, shape.length - drawnAxes(shape)).map((length) => Math.floor(length / 2));
  return { leading, crop: shape.slice(leading.length).map((length) => [0, length]) };
}

/** Selection of the plane as numpy writes it; whole axes are `:`. */
export function selectionOf({ leading, crop }, shape) {
  const drawn = crop.map(([start, end], k) => (start === 0 && end === shape[leading.length + k] ? ':' : `${start}:${end}`));
  return [...leading, ...drawn].join(',');
}

export const isWhole = ({ leading, crop }, shape) => crop.every(([start, end], k) => start === 0 && end === shape[leading.length + k]);

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

/** Reads `a:b, c:d` or one number; returns null for text that is none of them or leaves the axes. */
export function parseSelection(text, shape) {
  const parts = text.split(',').map((part) => part.trim());
  if (parts.length !== shape.length) return null;
  const count = shape.length - drawnAxes(shape);
  const leading = parts.slice(0, count).map(Number);
  if (leading.some((index, k) => !/^\d+$/.test(parts[k]) || index >= shape[k])) return null;
  const crop = parts.slice(count).map((part, k) => {
    const match = /^(\d*):(\d*)$/.exec(part);
    const length = shape[count + k];
    if (!match) return null;
    return [match[1] === '' ? 0 : Number(match[1]), match[2] === '' ? length : Math.min(length, Number(match[2]))];
  });
  return crop.every((range) => range && range[0] < range[1]) ? { leading, crop } : null;
}
