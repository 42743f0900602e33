// Runs of verify for one file. They belong to the page, not to the tab, so that Bytes sees their findings.
import { useEffect, useMemo, useRef, useState } from 'react';
import { call, Problem } from './api.js';

const NOT_RUN = { depth: null, running: false, progress: null, report: null, repair: null, error: null };

/** Calls `onLine` for each line of JSON of a streamed answer. */
async function readLines(response, onLine) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    const lines = (rest + (value ?? '')).split('\n');
    rest = done ? '' : lines.pop();
    for (const line of lines) if (line.trim()) onLine(JSON.parse(line));
    if (done) return;
  }
}

/** Byte range of a finding, or null. The command writes `start` and `end`. */
export function rangeOf(finding) {
  if (finding.range) return finding.range;
  return finding.start == null || finding.end == null ? null : [finding.start, finding.end];
}

/** Returns the state of the last run, `run(depth)` and `cancel()`. A run that is cancelled keeps the report before it. */
export function useVerify(file) {
  const [state, setState] = useState(NOT_RUN);
  const abort = useRef(null);
  useEffect(() => () => abort.current?.abort(), []);
  const actions = useMemo(() => ({
    async run(depth) {
      abort.current?.abort();
      const mine = new AbortController();
      abort.current = mine;
      setState((last) => ({ ...last, running: true, runningDepth: depth, progress: null, error: null }));
      const update = (change) => { if (abort.current === mine) setState((last) => ({ ...last, ...change })); };
      try {
        let ended = false;
        await readLines(await call('api/verify', { file, depth }, mine.signal), (line) => {
          if (line.progress) return update({ progress: line.progress });
          ended = true;
          if (!line.report) return update({ error: new Problem(line.message, line.hint) });
          return update({ depth, report: line.report, repair: line.repair ?? null });
        });
        if (!ended) throw new Problem('The server ended the check before its report.', 'Start it again.');
        update({ running: false });
      } catch (error) {
        const reason = mine.signal.aborted ? null : error instanceof Problem ? error : new Problem('The connection broke during the check.', 'Start it again.');
        update({ running: false, error: reason });
      }
    },
    cancel() { abort.current?.abort(); },
  }), [file]);
  return { ...state, ...actions };
}
