// Particles: one frame of a trajectory in its box, with playing, colours by type or field, and a curve of the log.
import { useEffect, useMemo, useState } from 'react';
import { countText, numberText } from '../format.js';
import { LoadState, ProblemText } from '../problem.jsx';
import { useKept, useLoad, useSettled } from '../use-load.js';
import { CurvePanel } from './curve-panel.jsx';
import { frameCache } from './particles-data.js';
import { ParticlesView } from './particles-view.jsx';
import { typeColor, viridis } from './ramp.js';
import { Choice } from './picture-controls.jsx';

const PREFETCH_FRAMES = 2;
const FRAME_INTERVAL_MS = 66;
const SLIDE_DELAY_MS = 80;

export function ParticlesTab({ file, info, kept }) {
  const frames = Math.max(1, info.frames ?? 1);
  const [frame, setFrame] = useKept(kept, 'particles frame', 0);
  const [field, setField] = useKept(kept, 'particles field', '');
  const [playing, setPlaying] = useState(false);
  const load = useMemo(() => frameCache(file, field), [file, field]);
  // A slider passes many frames on its way; playing and steps do not wait.
  const [sliding, setSliding] = useState(false);
  const settled = useSettled(frame, sliding ? SLIDE_DELAY_MS : 0);
  const wanted = sliding ? settled : frame;
  const data = useLoad(() => load(wanted), [load, wanted]);
  const shown = data.value;

  // The next frame is asked for when the one before has been drawn and its time has passed.
  useEffect(() => {
    if (!playing || data.loading || data.error) return undefined;
    for (let ahead = 1; ahead <= PREFETCH_FRAMES; ahead++) load((frame + ahead) % frames).catch(() => {});
    const timer = setTimeout(() => setFrame((frame + 1) % frames), FRAME_INTERVAL_MS);
    return () => clearTimeout(timer);
  }, [playing, data.loading, data.error, frame, load]);

  const head = shown?.head;
  const go = (next) => { setSliding(false); setFrame(Math.min(frames - 1, Math.max(0, next))); };
  return (
    <section className="particles">
      <div className="controls">
        <button type="button" disabled={frames < 2} onClick={() => { setSliding(false); setPlaying(!playing); }}>{playing ? 'Pause' : 'Play'}</button>
        <button type="button" aria-label="Frame before" disabled={frame === 0} onClick={() => go(frame - 1)}>‹</button>
        <button type="button" aria-label="Next frame" disabled={frame >= frames - 1} onClick={() => go(frame + 1)}>›</button>
        <label className="grow">
          <span className="sr-only">Frame</span>
          <input type="range" min="0" max={frames - 1} value={frame} onChange={(event) => { setPlaying(false); setSliding(true); setFrame(Number(event.target.value)); }} />
        </label>
        <output data-testid="frame">frame {frame} of {countText(frames)}{head?.step != null && `, step ${countText(head.step)}`}</output>
        <Choice label="Colour by" value={field} onChange={(event) => setField(event.target.value)} options={[['', 'type'], ...(head?.fields ?? [])]} />
      </div>
      {data.error && <ProblemText error={data.error} />}
      {!shown && !data.error && <div className="pad"><LoadState state={data} what="particles" /></div>}
      {shown && <ParticlesView file={file} data={shown} field={field} />}
      {head && <ParticleFacts head={head} />}
      <CurvePanel file={file} kept={kept} step={head?.step} frame={frame} frames={frames} onFrame={go} />
    </section>
  );
}

function ParticleFacts({ head }) {
  return (
    <footer className="facts">
      <span>{countText(head.of)} particles</span>
      {head.every > 1 && <span className="note">1 of {head.every} particles is shown: {countText(head.count)}</span>}
      {head.bonds > 0 && <span>{countText(head.bonds)} bonds</span>}
      {head.box && <span>box {head.box.slice(0, head.dimensions === 2 ? 2 : 3).map(numberText).join(' × ')}</span>}
      {head.field
        ? <span>{head.field.label} <i className="ramp" ref={paintRamp} /> {numberText(head.field.low)} to {numberText(head.field.high)}</span>
        : head.types.map((name, k) => <span key={name}><i className="swatch" style={{ background: `rgb(${typeColor(k)})` }} />{name}</span>)}
    </footer>
  );
}

/** Paints the colours of a field from low to high. */
function paintRamp(element) {
  if (element) element.style.background = `linear-gradient(90deg, ${[0, 0.25, 0.5, 0.75, 1].map((part) => `rgb(${viridis(part)})`).join(', ')})`;
}
