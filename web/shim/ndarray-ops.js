// `assign` of the package `ndarray-ops`, the one operation that h5web uses, without code compiled at run time.

/**
 * Copies the values of one view to another of the same shape. The offsets are kept and stepped, not computed for each
 * element: h5web copies whole planes of 4096 x 4096 with this.
 */
export function assign(target, source) {
  const { shape } = target;
  if (target.size === 0) return true;
  const last = shape.length - 1;
  const length = last < 0 ? 1 : shape[last];
  const [to, from] = [target.data, source.data];
  const [toStep, fromStep] = last < 0 ? [0, 0] : [target.stride[last], source.stride[last]];
  const at = shape.map(() => 0);
  let [toRow, fromRow] = [target.offset, source.offset];
  for (;;) {
    for (let i = 0, a = toRow, b = fromRow; i < length; i++, a += toStep, b += fromStep) to[a] = from[b];
    let axis = last - 1;
    for (; axis >= 0; axis--) {
      toRow += target.stride[axis];
      fromRow += source.stride[axis];
      if (++at[axis] < shape[axis]) break;
      toRow -= shape[axis] * target.stride[axis];
      fromRow -= shape[axis] * source.stride[axis];
      at[axis] = 0;
    }
    if (axis < 0) return true;
  }
}

export default { assign };
