// Tree: the metadata of the file as YAML, folded by indentation, with a search.
import { useMemo, useRef, useState } from 'react';
import { callText } from '../api.js';
import { countText } from '../format.js';
import { LoadState } from '../problem.jsx';
import { useKept, useLoad, useSettled } from '../use-load.js';
import { VirtualList } from '../virtual-list.jsx';
import { findLines, parentsOf, parseLines, visibleLines, withParents } from './tree-lines.js';

/** A longer line is cut: browsers lay out a line of a megabyte for seconds. */
const MAX_LINE = 2000;

export function TreeTab({ file, kept }) {
  const text = useLoad((signal) => callText('api/tree', { file }, signal), [file]);
  const tree = useMemo(() => (text.value == null ? null : parseLines(text.value)), [text.value]);
  return tree ? <TreeView tree={tree} kept={kept} /> : <div className="pad"><LoadState state={text} what="the tree" /></div>;
}

function TreeView({ tree, kept }) {
  const list = useRef(null);
  const [folded, setFolded] = useKept(kept, 'tree folded', new Set());
  const [query, setQuery] = useKept(kept, 'tree query', '');
  const [only, setOnly] = useState(false);
  const [at, setAt] = useState(-1);
  const settled = useSettled(query, 150);
  const found = useMemo(() => findLines(tree, settled), [tree, settled]);
  const foundSet = useMemo(() => new Set(found), [found]);
  const isFiltered = only && found.length > 0;
  const visible = useMemo(() => (isFiltered ? withParents(tree, found) : visibleLines(tree, folded)), [tree, folded, found, isFiltered]);

  function jump(step) {
    if (found.length === 0) return;
    const next = at < 0 ? (step > 0 ? 0 : found.length - 1) : (at + step + found.length) % found.length;
    setAt(next);
    const line = found[next];
    const opened = new Set(folded);
    for (const above of parentsOf(tree, line)) opened.delete(above);
    if (opened.size !== folded.size) setFolded(opened);
    const shown = isFiltered ? visible : visibleLines(tree, opened);
    requestAnimationFrame(() => list.current?.show(shown.indexOf(line)));
  }
  function toggle(line) {
    const next = new Set(folded);
    if (!next.delete(line)) next.add(line);
    setFolded(next);
  }
  const foldable = (line) => tree.last[line] > line;
  function foldAll() {
    const next = new Set();
    tree.lines.forEach((_, line) => { if (foldable(line)) next.add(line); });
    setFolded(next);
  }
  function row(index, style) {
    const line = visible[index];
    const current = found.length > 0 && found[at] === line;
    return (
      <div key={line} className={`tree-line ${foundSet.has(line) ? 'found' : ''} ${current ? 'current' : ''}`} style={style}>
        <span className="number">{line + 1}</span>
        {foldable(line) && !isFiltered
          ? <button type="button" className="fold" aria-expanded={!folded.has(line)} aria-label={`Line ${line + 1}`} onClick={() => toggle(line)}>{folded.has(line) ? '▸' : '▾'}</button>
          : <span className="fold" />}
        <code>{clipped(tree.lines[line])}{folded.has(line) && !isFiltered && <i> … {countText(tree.last[line] - line)} lines</i>}</code>
      </div>
    );
  }
  return (
    <section className="column">
      <form className="controls" role="search" onSubmit={(event) => { event.preventDefault(); jump(1); }}>
        <label>Search <input type="search" value={query} onChange={(event) => { setQuery(event.target.value); setAt(-1); }} /></label>
        <button type="submit" disabled={found.length === 0}>Next</button>
        <button type="button" disabled={found.length === 0} onClick={() => jump(-1)}>Previous</button>
        <label><input type="checkbox" checked={only} onChange={(event) => setOnly(event.target.checked)} /> only lines found</label>
        {settled && <output>{found.length === 0 ? 'not found' : `${at >= 0 && at < found.length ? `${countText(at + 1)} of ` : ''}${countText(found.length)} found`}</output>}
        <span className="space" />
        <button type="button" onClick={foldAll}>Fold all</button>
        <button type="button" onClick={() => setFolded(new Set())}>Unfold all</button>
        <span className="quiet">{countText(tree.lines.length)} lines</span>
      </form>
      <VirtualList ref={list} count={visible.length} row={row} className="tree" label="Tree of the file" />
    </section>
  );
}

function clipped(line) {
  return line.length <= MAX_LINE ? line : `${line.slice(0, MAX_LINE)} … (${countText(line.length - MAX_LINE)} more characters)`;
}
