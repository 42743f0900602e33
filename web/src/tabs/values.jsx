// Values: the page of h5web over the calls of h5grove.
import { useMemo } from 'react';
import { App, createBasicFetcher, DTypeClass, H5GroveProvider, ShapeClass } from '@h5web/app';
import { AUTH_HEADERS, BASE, call, NO_SERVER } from '../api.js';

const SERVER_FORMATS = new Set(['npy', 'tiff']);
const NUMBER_CLASSES = new Set([DTypeClass.Integer, DTypeClass.Float]);

/**
 * Adds the hint of the server to the message of an error, because h5web shows the message alone. `buffer` is the answer,
 * from which h5web takes it.
 */
function withHint(error) {
  if (error instanceof TypeError) return NO_SERVER;
  if (!error.buffer) return error;
  try {
    const { message, hint } = JSON.parse(new TextDecoder().decode(error.buffer));
    const text = hint ? `${message}: ${hint}` : message;
    error.buffer = new TextEncoder().encode(JSON.stringify({ message: text })).buffer;
  } catch {
    // Not from our server: h5web reports the status.
  }
  return error;
}

/**
 * Gives datasets without elements the shape of HDF5's null: h5web fails on an axis of length 0, and reports of null that
 * there is nothing to display.
 */
function withoutEmptyShapes(buffer) {
  const entity = JSON.parse(new TextDecoder().decode(buffer));
  for (const one of [entity, ...(entity.children ?? [])]) if (one.shape?.includes(0)) one.shape = null;
  return new TextEncoder().encode(JSON.stringify(entity)).buffer;
}

export function ValuesTab({ file, path, setPath }) {
  // Both functions keep their identity: the provider starts anew when one of them changes.
  const fetcher = useMemo(() => {
    const basic = createBasicFetcher({ headers: AUTH_HEADERS });
    return (url, params, options) => {
      // Outside the render of h5web, which calls this: it suspends while values are loaded.
      if (url.endsWith('/data')) queueMicrotask(() => setPath(params.path));
      const answer = basic(url, params, options).catch((error) => { throw withHint(error); });
      return url.endsWith('/meta') ? answer.then(withoutEmptyShapes) : answer;
    };
  }, [file]);
  const getExportURL = useMemo(() => (format, dataset, selection, builtIn) => {
    const isServed = SERVER_FORMATS.has(format) && dataset.shape.class === ShapeClass.Array && NUMBER_CLASSES.has(dataset.type.class);
    if (builtIn || !isServed) return undefined;
    return async () => (await call('h5grove/data', { file, path: dataset.path, format, selection })).blob();
  }, [file]);
  return (
    <div className="values">
      <H5GroveProvider url={`${BASE}h5grove`} filepath={file} fetcher={fetcher} getExportURL={getExportURL}>
        <App initialPath={path ?? '/'} />
      </H5GroveProvider>
    </div>
  );
}
