// Picture: a plane of a dataset, drawn by the server.
import { useEffect, useRef, useState } from 'react';
import { call, callJson } from '../api.js';
import { DatasetList } from '../dataset-list.jsx';
import { numberText, shapeText } from '../format.js';
import { loadMeta } from '../h5grove.js';
import { LoadState, ProblemText } from '../problem.jsx';
import { useKept, useLoad, useSettled, useSize } from '../use-load.js';
import { CopyCommand } from '../copy-command.jsx';
import { PictureControls } from './picture-controls.jsx';
import { PictureImage } from './picture-image.jsx';
import { SelectionControls } from './picture-selection.jsx';
import { initialPlane, isWhole, selectionOf } from './plane.js';

const MAX_PIXELS = 4096;

/** Choices at first: percentiles, because one hot pixel makes the rest of a linear picture black. */
const initialLook = (format) => ({
  stretch: 'linear', range: 'p0.25,99.75', cmap: 'viridis', origin: format === 'asdf' ? 'lower' : 'upper',
});

const countsOf = ({ crop }) => crop.map(([start, end]) => end - start);

/**
 * Pixels to ask for along a side. A pixel of the server is the mean of a whole number of values: asked for the pixels of the
 * screen, it would draw half of them for a side that is a little longer.
 */
function pixelsFor(count, length) {
  const screen = Math.floor(length * devicePixelRatio);
  return Math.min(MAX_PIXELS, count > screen ? Math.min(count, 2 * screen) : screen);
}

/** The path if it can be drawn, else the first dataset below it that can, else the one with the largest plane. */
function drawablePath(info, path) {
  const drawable = info.datasets.filter((one) => one.drawable);
  const below = drawable.find((one) => path && one.path.startsWith(`${path.replace(/\/$/, '')}/`));
  const known = info.datasets.find((one) => one.path === path);
  if (known ? known.drawable : info.more > 0 && path != null && !below) return path;
  return below?.path ?? largestPlane(drawable)?.path ?? path;
}

function largestPlane(datasets) {
  const area = ({ shape }) => (shape.length < 2 ? 0 : shape.at(-1) * shape.at(-2));
  return datasets.reduce((best, one) => (best && area(best) >= area(one) ? best : one), null);
}

export function PictureTab(context) {
  const { file, info, setPath, kept } = context;
  const path = drawablePath(info, context.path);
  const listed = info.datasets.find((one) => one.path === path);
  const known = listed?.shape;
  const loaded = useLoad(async (signal) => ({ path, shape: known ?? (await loadMeta(file, path, signal)).shape ?? [] }), [file, path]);
  // The value of the dataset before stays while the next one is loading.
  const shape = known ?? (loaded.value?.path === path ? loaded.value.shape : null);
  return (
    <div className="split">
      <DatasetList info={info} path={path} onSelect={setPath} filter={(one) => one.drawable} />
      {path == null && <p className="quiet pad">This file has no dataset that can be drawn.</p>}
      {path != null && !shape && <div className="pad"><LoadState state={{ ...loaded, value: null }} what={path} /></div>}
      {path != null && shape && <Plane key={path} file={file} path={path} shape={shape} order={listed?.order} format={info.format} kept={kept} />}
    </div>
  );
}

function Plane({ file, path, shape, order, format, kept }) {
  const [look, setLook] = useKept(kept, 'picture look', initialLook(format));
  const [plane, setPlane] = useKept(kept, `picture plane ${path}`, initialPlane(shape, order));
  const [box, size] = useSize();
  const [rows, columns] = plane.crop.length === 2 ? countsOf(plane) : [1, ...countsOf(plane)];
  const pixels = { width: pixelsFor(columns, size.width), height: pixelsFor(rows, size.height) };
  const picture = usePicture(file, path, shape, useSettled({ plane, look, pixels }, 120));
  const colors = useLoad((signal) => callJson('api/colors', {}, signal), []);
  const { value, error, loading } = picture;
  return (
    <section className="picture" aria-busy={loading}>
      <PictureControls look={look} setLook={setLook} maps={colors.value?.maps ?? []} picture={value} />
      <SelectionControls shape={shape} plane={plane} setPlane={setPlane} />
      <div className="picture-box" ref={box}>
        {error && <ProblemText error={error} />}
        {value && !value.block && <img src={value.url} alt={`Line of ${path}`} className="line-picture" />}
        {value?.block && size.width > 0 && (
          <PictureImage
            file={file} path={path} shape={shape} picture={value} setPlane={setPlane} available={size}
          />
        )}
        {!value && !error && <p className="quiet pad">Drawing …</p>}
      </div>
      {value && <PictureFacts picture={value} shape={shape} />}
    </section>
  );
}

/** Loads the picture as a blob; the address of the last one is revoked when the next has come. */
function usePicture(file, path, shape, { plane, look, pixels }) {
  const last = useRef(null);
  const state = useLoad(async (signal) => {
    if (pixels.width < 16 || pixels.height < 16) return null;
    const selection = plane.leading.length === 0 && isWhole(plane, shape) ? null : selectionOf(plane, shape);
    const response = await call('api/picture', { file, path, selection, ...pixels, ...look }, signal);
    const blob = await response.blob();
    const header = (name) => response.headers.get(name);
    const number = (name) => (header(name) == null ? null : Number(header(name)));
    return {
      blob, plane, origin: look.origin, low: number('X-Low'), high: number('X-High'),
      block: header('X-Block')?.split(',').map(Number) ?? null,
      notes: decodeURIComponent(header('X-Notes') ?? '').split('\n').filter(Boolean),
      recipe: decodeURIComponent(header('X-Recipe') ?? ''),
    };
  }, [file, path, JSON.stringify([plane, look, pixels])]);
  const [url, setUrl] = useState(null);
  const blob = state.value?.blob;
  useEffect(() => {
    if (!blob) return;
    const next = URL.createObjectURL(blob);
    setUrl(next);
    if (last.current) URL.revokeObjectURL(last.current);
    last.current = next;
  }, [blob]);
  useEffect(() => () => { if (last.current) URL.revokeObjectURL(last.current); }, []);
  return { ...state, value: state.value && url ? { ...state.value, url } : null };
}

/** Facts below the picture: the ends of the colours, how many values a pixel has, notes, and the command. */
function PictureFacts({ picture, shape }) {
  const [rows, columns] = picture.block ?? [];
  return (
    <footer className="facts">
      <span>{shapeText(shape)}</span>
      {picture.low != null && <span>{picture.block ? 'colours' : 'axis'} from <b>{numberText(picture.low)}</b> to <b>{numberText(picture.high)}</b></span>}
      {picture.block && <span>{rows * columns > 1 ? `a pixel is the mean of ${rows} × ${columns} values` : 'a pixel is one value or a part of it'}</span>}
      {/* The sentence before has the size of the blocks. */}
      {picture.notes.filter((note) => !note.startsWith('means of blocks')).map((note) => <span key={note} className="note">{note}</span>)}
      {picture.recipe && <CopyCommand command={picture.recipe} />}
    </footer>
  );
}
