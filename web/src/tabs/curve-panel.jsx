// Curve of a logged quantity over the step, with a mark at the frame that is shown.
import { useEffect, useRef } from 'react';
import { countText, numberText } from '../format.js';
import { loadMeta, loadValues } from '../h5grove.js';
import { ProblemText } from '../problem.jsx';
import { useKept, useLoad, useSize } from '../use-load.js';
import { drawCurve, nearestIndex, stepAt } from './curve.js';
import { Choice } from './picture-controls.jsx';

/** Names of the groups below `/curves`; a file without a log has no such group. */
async function loadNames(file, signal) {
  const root = await loadMeta(file, '/', signal);
  if (!root.children?.some((child) => child.name === 'curves')) return [];
  const { children = [] } = await loadMeta(file, '/curves', signal);
  return children.filter((child) => child.kind === 'group').map((child) => child.name);
}

async function loadCurve(file, name, signal) {
  const [values, steps] = await Promise.all(['value', 'step'].map(async (part) => {
    const path = `/curves/${name}/${part}`;
    const { type } = await loadMeta(file, path, signal);
    return Float64Array.from(await loadValues(file, path, type, undefined, signal), Number);
  }));
  return { values, steps };
}

export function CurvePanel({ file, kept, step, frame, frames, onFrame }) {
  const names = useLoad((signal) => loadNames(file, signal), [file]);
  const [chosen, setChosen] = useKept(kept, 'curve', null);
  const name = chosen ?? names.value?.[0] ?? null;
  const curve = useLoad(async (signal) => (name == null ? null : { name, ...(await loadCurve(file, name, signal)) }), [file, name]);
  if (names.error) return <ProblemText error={names.error} />;
  if (!names.value || names.value.length === 0) return null;
  const data = curve.value;
  const index = data && step != null ? nearestIndex(data.steps, step) : -1;
  return (
    <div className="curve">
      <div className="controls">
        <Choice label="Curve" value={name} onChange={(event) => setChosen(event.target.value)} options={names.value} />
        {index >= 0 && <output>{numberText(data.values[index])} at step {countText(data.steps[index])}</output>}
      </div>
      {curve.error && <ProblemText error={curve.error} />}
      {data && <Curve data={data} step={step} frame={frame} frames={frames} onFrame={onFrame} />}
    </div>
  );
}

function Curve({ data, step, frame, frames, onFrame }) {
  const [box, { width, height }] = useSize();
  const canvas = useRef(null);
  useEffect(() => {
    if (width < 50) return;
    canvas.current.width = Math.round(width * devicePixelRatio);
    canvas.current.height = Math.round(height * devicePixelRatio);
    const context = canvas.current.getContext('2d');
    context.scale(devicePixelRatio, devicePixelRatio);
    const style = getComputedStyle(canvas.current);
    drawCurve(context, { width, height }, data, step, { text: style.color, line: style.getPropertyValue('--accent'), mark: style.getPropertyValue('--bad') });
  }, [data, step, width, height]);
  // Frames have no steps of their own in the curve unless each frame has logged one value.
  const isFramed = data.values.length === frames;
  function onClick(event) {
    if (!isFramed) return;
    const { left } = event.currentTarget.getBoundingClientRect();
    onFrame(nearestIndex(data.steps, stepAt(event.clientX - left, width, data.steps)));
  }
  return (
    <div className="curve-box" ref={box}>
      <canvas ref={canvas} className={isFramed ? 'clickable' : ''} role="img" aria-label={`Curve of ${data.name} over step, mark at frame ${frame}`} onClick={onClick} />
    </div>
  );
}
