// Slices of the leading axes, and the selection as text: the way to a crop without a mouse.
import { useEffect, useState } from 'react';
import { initialPlane, isWhole, parseSelection, selectionOf } from './plane.js';

export function SelectionControls({ shape, plane, setPlane }) {
  const current = selectionOf(plane, shape);
  const [text, setText] = useState(current);
  useEffect(() => setText(current), [current]);
  const parsed = parseSelection(text, shape);
  const setIndex = (axis, index) => setPlane({ ...plane, leading: plane.leading.map((old, k) => (k === axis ? index : old)) });
  return (
    <div className="controls">
      {plane.leading.map((index, axis) => (
        <label key={axis}>
          Axis {axis}
          <input type="range" min="0" max={Math.max(0, shape[axis] - 1)} value={index} onChange={(event) => setIndex(axis, Number(event.target.value))} />
          <output>{index} of {shape[axis]}</output>
        </label>
      ))}
      {shape.length > 0 && (
        <form className="ends" onSubmit={(event) => { event.preventDefault(); if (parsed) setPlane(parsed); }}>
          <label>Selection <input className="selection" value={text} onChange={(event) => setText(event.target.value)} aria-invalid={!parsed} /></label>
          {text !== current && <button type="submit" disabled={!parsed}>Apply</button>}
          {!parsed && <span role="alert" className="warning">write it as {selectionOf(initialPlane(shape), shape)} or {exampleOf(shape)}</span>}
        </form>
      )}
      <button type="button" disabled={isWhole(plane, shape)} onClick={() => setPlane({ ...plane, crop: initialPlane(shape).crop })}>Whole</button>
      <span className="quiet">drag over the picture to see a part of it</span>
    </div>
  );
}

function exampleOf(shape) {
  const { leading, crop } = initialPlane(shape);
  return [...leading, ...crop.map(([, end]) => `0:${Math.max(1, Math.floor(end / 2))}`)].join(',');
}
