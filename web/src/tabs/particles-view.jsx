// The canvas of the scene, or without WebGL a picture that the server draws.
import { useEffect, useRef, useState } from 'react';
import { call } from '../api.js';
import { ProblemText } from '../problem.jsx';
import { useLoad, useSize } from '../use-load.js';
import { createScene } from './particles-scene.js';

const isDark = () => matchMedia('(prefers-color-scheme: dark)').matches;

export function ParticlesView({ file, data, field }) {
  const [box, size] = useSize();
  const canvas = useRef(null);
  const scene = useRef(null);
  const [failed, setFailed] = useState(false);

  useEffect(() => {
    const onDraw = () => { if (canvas.current) canvas.current.dataset.pictures = Number(canvas.current.dataset.pictures ?? 0) + 1; };
    try {
      scene.current = createScene(canvas.current, { dark: isDark(), onDraw });
    } catch {
      setFailed(true);
      return undefined;
    }
    const made = scene.current;
    return () => {
      scene.current = null;
      made.dispose();
    };
  }, []);
  useEffect(() => { if (size.width > 0 && size.height > 0) scene.current?.resize(size.width, size.height); }, [size]);
  useEffect(() => {
    scene.current?.show(data);
    if (canvas.current) canvas.current.dataset.frame = data.head.frame;
  }, [data]);

  return (
    <div className="scene" ref={box}>
      {failed ? <PlainPicture file={file} frame={data.head.frame} field={field} size={size} /> : (
        <>
          <canvas ref={canvas} tabIndex={0} role="img" aria-label="Particles. Drag to turn, wheel to come nearer, arrow keys to move." />
          <button type="button" className="home" onClick={() => scene.current?.home()}>Whole box</button>
        </>
      )}
    </div>
  );
}

/** Picture of a frame by the server, for browsers without WebGL. */
function PlainPicture({ file, frame, field, size }) {
  const [url, setUrl] = useState(null);
  const { width, height } = size;
  const picture = useLoad(async (signal) => {
    if (width < 16 || height < 16) return null;
    const params = { file, frame, field: field || null, width: Math.floor(width), height: Math.floor(height) };
    return (await call('api/picture', params, signal)).blob();
  }, [file, frame, field, width, height]);
  useEffect(() => {
    if (!picture.value) return undefined;
    const next = URL.createObjectURL(picture.value);
    setUrl(next);
    return () => URL.revokeObjectURL(next);
  }, [picture.value]);
  return (
    <div className="plain">
      <p className="quiet">This browser has no WebGL, so the server draws the frame: it cannot be turned.</p>
      {picture.error && <ProblemText error={picture.error} />}
      {url && <img src={url} alt={`Particles of frame ${frame}`} />}
    </div>
  );
}
