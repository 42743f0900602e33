// Slices of the leading axes, and the selection as text: the way to a crop without a mouse.
import { useEffect, useState } from 'react';
import { cutAxes, isWhole, parseSelection, selectionOf } from './plane.js';

export function SelectionControls({ shape, plane, setPlane }) {
  const current = selectionOf(plane, shape);
  const [text, setText] = useState(current);
  useEffect(() => setText(current), [current]);
  const parsed = parseSelection(text, shape, plane.first);
  const whole = { ...plane, crop: plane.crop.map((_, k) => [0, shape[plane.first + k]]) };
  const axes = cutAxes(plane, shape);
  const setIndex = (axis, index) => setPlane((now) => ({ ...now, leading: now.leading.map((old, k) => (k === axis ? index : old)) }));
  return (
    <div className="controls">
      {plane.leading.map((index, axis) => (
        <label key={axis}>
          Axis {axes[axis]}
          <input type="range" min="0" max={Math.max(0, shape[axes[axis]] - 1)} value={index} onChange={(event) => setIndex(axis, Number(event.target.value))} />
          <output>index {index}, length {shape[axes[axis]]}</output>
        </label>
      ))}
      {shape.length > 0 && (
        <form className="ends" onSubmit={(event) => { event.preventDefault(); if (parsed) setPlane(parsed); }}>
          <label>Selection <input className="selection" value={text} onChange={(event) => setText(event.target.value)} aria-invalid={!parsed} /></label>
          {text !== current && <button type="submit" disabled={!parsed}>Apply</button>}
          {!parsed && <span role="alert" className="warning">write it as {selectionOf(whole, shape)} or {exampleOf(whole, shape)}</span>}
        </form>
      )}
      <button type="button" disabled={isWhole(plane, shape)} onClick={() => setPlane((now) => ({ ...now, crop: whole.crop }))}>Whole</button>
      <span className="quiet">drag over the picture to see a part of it</span>
    </div>
  );
}

function exampleOf(whole, shape) {
  const crop = whole.crop.map(([, end]) => [0, Math.max(1, Math.floor(end / 2))]);
  return selectionOf({ ...whole, crop }, shape);
}
