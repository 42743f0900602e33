// Verify: verdict, findings with their byte ranges, and the command that repairs.
import { useEffect } from 'react';
import { CopyCommand } from '../copy-command.jsx';
import { countText, rangeText, sizeText } from '../format.js';
import { ProblemText } from '../problem.jsx';
import { rangeOf } from '../use-verify.js';

const VERDICTS = {
  sound: ['Sound', 'No damage was found.'],
  damaged: ['Damaged', 'The findings below list the affected bytes and datasets.'],
  unchecked: ['Not fully checked', 'Some chunks need a codec or filter that this build does not have.'],
  unreadable: ['Unreadable', 'The structure is damaged, so the file cannot be opened.'],
};
const QUICK_VERDICTS = { sound: ['Structure sound', 'Values have not been read.'] };
const MAX_ROWS = 1000;

export function VerifyTab({ verify, showRange }) {
  const { report, repair, depth, running, runningDepth, progress, error, run, cancel } = verify;
  useEffect(() => { if (!report && !running) run('quick'); }, []);
  return (
    <section className="verify pad">
      <div className="controls">
        <button type="button" disabled={running && runningDepth === 'quick'} onClick={() => run('quick')}>Verify quickly</button>
        <button type="button" disabled={running} onClick={() => run('full')}>Verify in full</button>
        {running && <Progress progress={progress} full={runningDepth === 'full'} cancel={cancel} />}
        {!running && <span className="quiet">A full check decodes every block and compares every checksum.</span>}
      </div>
      {error && <ProblemText error={error} />}
      {report && <Verdict report={report} depth={depth} />}
      {repair && <Repair command={repair} />}
      {report && <Findings findings={report.findings ?? []} showRange={showRange} />}
    </section>
  );
}

function Progress({ progress, full, cancel }) {
  const [done, total] = progress ?? [];
  return (
    <>
      <progress value={total ? done / total : undefined} max="1" aria-label="Progress" />
      <span>{total ? `${sizeText(done)} of ${sizeText(total)}` : 'checking …'}</span>
      {full && <button type="button" onClick={cancel}>Cancel</button>}
    </>
  );
}

function Verdict({ report, depth }) {
  const [word, sentence] = (depth !== 'full' && QUICK_VERDICTS[report.verdict]) || VERDICTS[report.verdict] || [report.verdict, ''];
  const { total = 0, checked = 0, bad = 0 } = report.blocks ?? {};
  return (
    <div className={`verdict ${report.verdict}`} data-verdict={report.verdict}>
      <strong>{word}</strong>
      <span>{sentence} {depth === 'full' ? 'Full check.' : 'Quick check of the structure.'}</span>
      {total > 0 && <span>{countText(total)} blocks, {countText(checked)} checked{bad > 0 && `, ${countText(bad)} damaged`}.</span>}
    </div>
  );
}

function Repair({ command }) {
  return (
    <div className="repair">
      <p>This command writes the intact parts to a new file:</p>
      <CopyCommand command={command} label="Copy" visible />
    </div>
  );
}

function Findings({ findings, showRange }) {
  if (findings.length === 0) return <p className="quiet">No findings.</p>;
  const hasParts = findings.some((one) => one.part != null);
  return (
    <table className="findings">
      <thead><tr><th>Severity</th><th>Code</th><th>Bytes</th>{hasParts && <th>Part</th>}<th>Dataset</th><th>Finding</th></tr></thead>
      <tbody>
        {findings.slice(0, MAX_ROWS).map((one, k) => {
          const range = rangeOf(one);
          return (
            <tr key={k} className={one.severity}>
              <td>{one.severity}</td>
              <td><code>{one.code}</code></td>
              <td>{range && !showRange && rangeText(range)}{range && showRange && <button type="button" className="link" title="Show in Bytes" onClick={() => showRange({ range, part: one.part ?? null })}>{rangeText(range)}</button>}</td>
              {hasParts && <td>{one.part}</td>}
              <td>{one.dataset}</td>
              <td>{one.message}</td>
            </tr>
          );
        })}
        {findings.length > MAX_ROWS && <tr><td colSpan={hasParts ? 6 : 5}>{countText(findings.length - MAX_ROWS)} more: see <code>holdall verify</code>.</td></tr>}
      </tbody>
    </table>
  );
}
