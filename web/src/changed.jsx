// Bar that says that the file has changed. It asks the server every two seconds while the page is visible.
import { useEffect, useState } from 'react';
import { callJson } from './api.js';

const INTERVAL_MS = 2000;

export function ChangedBar({ file, stamp, reload }) {
  const [state, setState] = useState(null);
  useEffect(() => {
    const abort = new AbortController();
    let timer;
    async function look() {
      if (document.visibilityState === 'visible') {
        try {
          const now = await callJson('api/changed', { file }, abort.signal);
          setState(now.stamp === stamp ? null : { message: 'The file has changed.' });
        } catch (error) {
          if (abort.signal.aborted) return;
          setState(error);
        }
      }
      if (!abort.signal.aborted) timer = setTimeout(look, INTERVAL_MS);
    }
    timer = setTimeout(look, INTERVAL_MS);
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [file, stamp]);
  if (!state) return null;
  return (
    <div className="changed" role="status">
      <span>{state.message} {state.hint?.replaceAll('`', '')}</span>
      <button type="button" onClick={reload}>Load it again</button>
    </div>
  );
}
