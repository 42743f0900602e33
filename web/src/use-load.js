// Hooks: a value that is loaded, a size that is observed, state that outlives a tab.
import { useEffect, useLayoutEffect, useRef, useState } from 'react';

/**
 * Loads a value when `keys` change; the load before is aborted. Returns `{ value, error, loading }`; while the next value
 * is loading, the last one stays.
 */
export function useLoad(load, keys) {
  const [state, setState] = useState({ value: null, error: null, loading: true });
  useEffect(() => {
    const abort = new AbortController();
    setState((last) => ({ ...last, loading: true }));
    load(abort.signal).then(
      (value) => { if (!abort.signal.aborted) setState({ value, error: null, loading: false }); },
      (error) => { if (!abort.signal.aborted) setState({ value: null, error, loading: false }); },
    );
    return () => abort.abort();
  }, keys);
  return state;
}

/** Observes the size of an element in CSS pixels. Returns a ref and `{ width, height }`, zero at first. */
export function useSize() {
  const ref = useRef(null);
  const [size, setSize] = useState({ width: 0, height: 0 });
  useLayoutEffect(() => {
    if (!ref.current) return undefined;
    const observer = new ResizeObserver(([{ contentRect }]) => {
      const { width, height } = contentRect;
      setSize((last) => (last.width === width && last.height === height ? last : { width, height }));
    });
    observer.observe(ref.current);
    return () => observer.disconnect();
  }, []);
  return [ref, size];
}

/** State kept in a map of the page, so that a tab has it again when it is shown again. */
export function useKept(kept, key, initial) {
  const [value, setValue] = useState(() => (kept.has(key) ? kept.get(key) : initial));
  const set = (next) => setValue((last) => {
    const now = typeof next === 'function' ? next(last) : next;
    kept.set(key, now);
    return now;
  });
  return [value, set];
}

/** Returns a value only after it has not changed for `delay` milliseconds. */
export function useSettled(value, delay) {
  const [settled, setSettled] = useState(value);
  const key = JSON.stringify(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), delay);
    return () => clearTimeout(timer);
  }, [key, delay]);
  return settled;
}
