// The picture at screen size: value under the cursor, drag to crop, arrow keys to move, + and - to zoom.
import { useEffect, useRef, useState } from 'react';
import { loadMeta, loadValues } from '../h5grove.js';
import { clampCrop, drawnLengths, inOrder, movedCrop } from './plane.js';

/** The short side of a long and thin picture is stretched to this many CSS pixels. */
const MIN_SIDE = 48;
const MIN_DRAG = 4;
const VALUE_DELAY_MS = 60;

/** Size in CSS pixels: square values that fill the available box. */
function fit([rows, columns], { width, height }) {
  const scale = Math.min(width / columns, height / rows);
  const side = (count, limit) => Math.min(limit, Math.max(MIN_SIDE, Math.round(count * scale)));
  return { width: side(columns, width), height: side(rows, height) };
}

export function PictureImage({ file, path, shape, picture, setPlane, available }) {
  const { plane, origin, url, block } = picture;
  const crop = plane.crop.length === 2 ? plane.crop : [[0, 1], ...plane.crop];
  const counts = crop.map(([start, end]) => end - start);
  const size = fit(counts, available);
  const [drag, setDrag] = useState(null);
  const [at, setAt] = useState(null);
  const value = useValueAt(file, path, at);

  /** Row and column, with fractions, under a pointer; the first row is at the bottom for the origin `lower`. */
  function place(event) {
    const box = event.currentTarget.getBoundingClientRect();
    const x = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
    const down = Math.min(1, Math.max(0, (event.clientY - box.top) / box.height));
    const y = origin === 'lower' ? 1 - down : down;
    // Pixels are blocks of values, of which the last one may reach beyond the plane.
    const [row, column] = [y, x].map((part, k) => crop[k][0] + part * Math.ceil(counts[k] / block[k]) * block[k]);
    return { x, down, row, column };
  }
  function onMove(event) {
    const here = place(event);
    const indices = [here.row, here.column].map((p, k) => Math.min(crop[k][1] - 1, Math.floor(p)));
    setAt(inOrder(plane, plane.crop.length === 2 ? indices : indices.slice(1)));
    if (drag) setDrag({ ...drag, end: here });
  }
  function onDown(event) {
    if (event.button !== 0) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    const here = place(event);
    setDrag({ start: here, end: here });
  }
  function onUp(event) {
    if (!drag) return;
    setDrag(null);
    const end = place(event);
    const isClick = Math.abs(end.x - drag.start.x) * size.width < MIN_DRAG || Math.abs(end.down - drag.start.down) * size.height < MIN_DRAG;
    if (!isClick) apply(['row', 'column'].map((axis) => [Math.min(drag.start[axis], end[axis]), Math.max(drag.start[axis], end[axis])]));
  }
  const lengths = shape.length >= 2 ? drawnLengths(plane, shape) : [1, ...shape];
  function apply(next) {
    const limited = clampCrop(next, lengths);
    setPlane((now) => ({ ...now, crop: plane.crop.length === 2 ? limited : limited.slice(1) }));
  }
  function onKeyDown(event) {
    const up = origin === 'lower' ? 0.2 : -0.2;
    const move = { ArrowUp: [up, 0], ArrowDown: [-up, 0], ArrowLeft: [0, -0.2], ArrowRight: [0, 0.2], '+': [0, 0], '-': [0, 0] }[event.key];
    if (!move) return;
    event.preventDefault();
    apply(movedCrop(crop, lengths, move, { '+': 0.5, '-': 2 }[event.key]));
  }
  return (
    <div className="picture-frame">
      <div
        className="picture-image" style={size} tabIndex={0} role="img" aria-label={`Picture of ${path}. Arrow keys move it, plus and minus change the part that is shown.`}
        onPointerMove={onMove} onPointerDown={onDown} onPointerUp={onUp} onPointerCancel={() => setDrag(null)} onPointerLeave={() => setAt(null)} onKeyDown={onKeyDown}
      >
        <img src={url} alt="" draggable={false} className={counts[1] < size.width ? 'pixelated' : undefined} />
        {drag && <div className="crop" style={cropBox(drag, size)} />}
      </div>
      <p className="under" data-testid="under">{at && `[${at.join(', ')}] ${value}`}</p>
    </div>
  );
}

function cropBox({ start, end }, { width, height }) {
  return {
    left: Math.min(start.x, end.x) * width, top: Math.min(start.down, end.down) * height,
    width: Math.abs(end.x - start.x) * width, height: Math.abs(end.down - start.down) * height,
  };
}

/** Loads the value at these indices when the cursor rests, and returns it as text. */
function useValueAt(file, path, at) {
  const [text, setText] = useState('');
  const type = useRef(null);
  const key = at?.join(',');
  useEffect(() => {
    setText('');
    if (key == null) return undefined;
    const abort = new AbortController();
    const timer = setTimeout(async () => {
      try {
        type.current ??= (await loadMeta(file, path, abort.signal)).type;
        const values = await loadValues(file, path, type.current, key, abort.signal);
        setText(`= ${valueText(values, type.current)}`);
      } catch (error) {
        if (!abort.signal.aborted) setText(error.message);
      }
    }, VALUE_DELAY_MS);
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [file, path, key]);
  return text;
}

/** One value as text: numbers with all their digits, other types as JSON. */
function valueText(values, type) {
  if (!ArrayBuffer.isView(values)) return JSON.stringify(values);
  const [value] = values;
  const name = type.members && Object.keys(type.members).find((key) => type.members[key] === Number(value));
  if (name) return name.toLowerCase();
  if (values instanceof Float32Array) return numberOf32(value);
  return typeof value === 'bigint' ? value.toString() : String(value);
}

/** The shortest text that is the same 32-bit float. */
function numberOf32(value) {
  if (!Number.isFinite(value)) return String(value);
  for (let digits = 1; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return String(short);
  }
  return String(Number(value.toPrecision(9)));
}
