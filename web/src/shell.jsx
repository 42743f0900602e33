// Frame of the page: choice of the file, tabs, the bar of a changed file, and what the tabs share.
import { useEffect, useRef, useState } from 'react';
import { callJson } from './api.js';
import { About } from './about.jsx';
import { ChangedBar } from './changed.jsx';
import { FileLine } from './file-line.jsx';
import { sizeText } from './format.js';
import { ErrorBoundary, LoadState, ProblemText } from './problem.jsx';
import { TabList } from './tab-list.jsx';
import { TABS } from './tabs/index.js';
import { useLoad } from './use-load.js';
import { useVerify } from './use-verify.js';

/** The page: loads the list of files and shows one of them. */
export function Shell() {
  const files = useLoad((signal) => callJson('api/files', {}, signal), []);
  const [chosen, setChosen] = useState(null);
  const [revision, setRevision] = useState(0);
  const place = useRef({});
  if (!files.value) return <main className="alone"><h1>holdall</h1><LoadState state={files} what="the list of files" /></main>;
  const list = files.value.files;
  if (list.length === 0) {
    const none = { message: 'No file of a known format was found.', hint: 'Start `holdall serve` with a file, a folder or an address.' };
    return <main className="alone"><h1>holdall</h1><ProblemText error={none} /></main>;
  }
  const file = chosen ?? list[0].name;
  const picker = <FilePicker files={list} file={file} onChange={setChosen} />;
  return (
    <FileView
      key={`${revision} ${file}`} file={file} picker={picker} version={files.value.version}
      reload={() => setRevision(revision + 1)} place={place}
    />
  );
}

function FilePicker({ files, file, onChange }) {
  return (
    <label className="files">
      <span className="sr-only">File</span>
      <select value={file} onChange={(event) => onChange(event.target.value)} title={file}>
        {files.map(({ name, size }) => <option key={name} value={name}>{size == null ? name : `${name} (${sizeText(size)})`}</option>)}
      </select>
    </label>
  );
}

/** One file: header, tabs, and the tab that is shown. `place` remembers tab and path for when the file is loaded again. */
function FileView({ file, picker, version, reload, place }) {
  const info = useLoad((signal) => callJson('api/open', { file }, signal), [file]);
  const before = place.current.file === file ? place.current : {};
  const [tab, setTab] = useState(before.tab ?? null);
  const [path, setPath] = useState(before.path ?? null);
  const [range, setRange] = useState(null);
  const verify = useVerify(file);
  const kept = useRef(new Map()).current;
  const open = info.value;

  useEffect(() => { place.current = { file, tab, path }; }, [file, tab, path]);
  useEffect(() => { document.title = `${file} – holdall`; }, [file]);

  const shown = tab ?? open?.first?.tab ?? 'values';
  // A damaged file that cannot be opened can still be verified.
  const isUnreadable = info.error?.status === 422;
  const ids = (open?.tabs ?? (isUnreadable ? ['verify'] : [])).filter((id) => id in TABS);
  const current = ids.includes(shown) ? shown : ids[0];
  const Tab = current ? TABS[current].Tab : null;
  const context = {
    file, info: open, kept, verify,
    path: path ?? open?.first?.path ?? null, setPath,
    range, showRange: open && ((next) => { setRange(next); setTab('bytes'); }),
    select: (id) => setTab(id),
  };
  return (
    <>
      <header>
        <h1 className="sr-only">holdall</h1>
        {picker}
        {ids.length > 0 && <TabList ids={ids} current={current} onSelect={setTab} />}
        <About version={version} />
      </header>
      {open && <ChangedBar file={file} stamp={open.stamp} reload={reload} />}
      {open && <FileLine info={open} />}
      <main id="panel" role="tabpanel" aria-label={current ? TABS[current].label : undefined} data-tab={current}>
        {!open && <div className="pad"><LoadState state={info} what={file} /></div>}
        {Tab && <ErrorBoundary key={current}><Tab {...context} /></ErrorBoundary>}
      </main>
    </>
  );
}
