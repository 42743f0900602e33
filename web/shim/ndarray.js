// Strided view of a flat array, with the part of the interface of the package `ndarray` that h5web uses. The package
// compiles accessors with `new Function`, which the content security policy of the server refuses.

/** Strides of a row-major array of this shape, counted in elements. */
function rowMajor(shape) {
  const stride = new Array(shape.length);
  let step = 1;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    stride[axis] = step;
    step *= shape[axis];
  }
  return stride;
}

class StridedView {
  constructor(data, shape, stride, offset) {
    this.data = data;
    this.shape = shape;
    this.stride = stride;
    this.offset = offset;
  }

  get dimension() { return this.shape.length; }

  get size() { return this.shape.reduce((product, length) => product * length, 1); }

  get dtype() { return Array.isArray(this.data) ? 'array' : this.data.constructor.name.replace(/Array$/, '').toLowerCase(); }

  /** Position in `data` of the element at these indices. */
  index(...at) { return at.reduce((sum, i, axis) => sum + i * (this.stride[axis] ?? 0), this.offset); }

  get(...at) { return this.data[this.index(...at)]; }

  set(...args) {
    const value = args.pop();
    this.data[this.index(...args)] = value;
    return value;
  }

  /** View of the elements with the given indices; an axis with null or a negative number is kept. */
  pick(...at) {
    const kept = this.shape.map((_, axis) => axis).filter((axis) => at[axis] == null || at[axis] < 0);
    const offset = this.shape.reduce((sum, _, axis) => (kept.includes(axis) ? sum : sum + at[axis] * this.stride[axis]), this.offset);
    return new StridedView(this.data, kept.map((axis) => this.shape[axis]), kept.map((axis) => this.stride[axis]), offset);
  }

  /** View with the axes in another order. */
  transpose(...axes) {
    const order = this.shape.map((_, axis) => axes[axis] ?? axis);
    return new StridedView(this.data, order.map((axis) => this.shape[axis]), order.map((axis) => this.stride[axis]), this.offset);
  }
}

/** Wraps `data` without a copy; the shape is that of one axis, and the order row-major, unless given. */
export default function ndarray(data, shape = [data.length], stride = rowMajor(shape), offset = 0) {
  return new StridedView(data, shape, stride, offset);
}
