// Bytes: the physical map of the file as a strip and a table of segments.
import { useEffect, useMemo, useRef, useState } from 'react';
import { callJson } from '../api.js';
import { countText, sizeText } from '../format.js';
import { LoadState, ProblemText } from '../problem.jsx';
import { useKept, useLoad } from '../use-load.js';
import { VirtualList } from '../virtual-list.jsx';
import { BytesStrip } from './bytes-strip.jsx';
import { faultRanges, findSegment, kindOf, PAGE, useSegments } from './segments.js';

/** Segments in the strip, so that each has some pixels; a divisor of the page. */
const STRIP_SEGMENTS = 400;

export function BytesTab(context) {
  const { file } = context;
  const layout = useLoad((signal) => callJson('api/layout', { file, from: 0, n: PAGE }, signal), [file]);
  return layout.value ? <BytesView {...context} layout={layout.value} /> : <div className="pad"><LoadState state={layout} what="the map of the file" /></div>;
}

function faultText(count) {
  if (count === 0) return 'Verify found no error with a byte range';
  return `Red: ${count === 1 ? 'an error' : `${countText(count)} errors`} found by Verify`;
}

function BytesView({ file, kept, layout, verify, range, select }) {
  const list = useRef(null);
  const segments = useSegments(file, layout);
  const faults = useMemo(() => faultRanges(verify.report), [verify.report]);
  const [selected, setSelected] = useKept(kept, 'bytes selected', null);
  const [middle, setMiddle] = useState(0);

  useEffect(() => {
    if (!range) return;
    findSegment(segments, range).then((index) => {
      if (index == null) return;
      setSelected(index);
      list.current?.show(index);
    });
  }, [range]);

  function choose(index) {
    setSelected(index);
    list.current?.show(index);
  }
  function onRows(first, end) {
    setMiddle(Math.floor((first + Math.max(first, end - 1)) / 2));
    for (let one = Math.floor(first / PAGE); one * PAGE < end; one++) segments.load(one);
  }
  function onKeyDown(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || selected == null) return;
    event.preventDefault();
    choose(Math.min(segments.total - 1, Math.max(0, selected + step)));
  }
  function row(index, style) {
    const one = segments.at(index);
    if (!one) return <div key={index} role="row" className="segment" style={style}><span role="gridcell">…</span></div>;
    return (
      <div
        key={index} role="row" className={`segment ${kindOf(one, faults)}`} style={style} aria-selected={index === selected}
        data-start={one.start} onClick={() => setSelected(index)}
      >
        <span role="gridcell" className="num">{countText(one.start)}</span>
        <span role="gridcell" className="num">{countText(one.end)}</span>
        <span role="gridcell" className="num">{sizeText(one.end - one.start)}</span>
        <span role="gridcell">{one.role}</span>
        <span role="gridcell">{one.codec}</span>
        <span role="gridcell" className="num">{one.decoded == null ? '' : sizeText(one.decoded)}</span>
        <span role="gridcell">{one.checksum}</span>
        <span role="gridcell">{one.dataset}{one.part != null && ` (${one.part})`}</span>
      </div>
    );
  }
  const from = middle - (middle % STRIP_SEGMENTS);
  const shown = segments.slice(from, from + STRIP_SEGMENTS);
  return (
    <section className="column">
      {shown && <BytesStrip segments={shown} from={from} total={segments.total} faults={faults} selected={selected} onSelect={choose} />}
      {segments.error && <ProblemText error={segments.error} />}
      <p className="quiet bytes-note">
        {countText(layout.total)} segments, {sizeText(layout.size)}.{' '}
        {verify.report
          ? `${faultText(faults.length)} (${verify.depth} check).`
          : <>Errors are marked after a check. <button type="button" className="link" onClick={() => select('verify')}>Verify</button></>}
      </p>
      <div className="segment head" aria-hidden="true">
        <span className="num">start</span><span className="num">end</span><span className="num">length</span><span>role</span><span>codec</span>
        <span className="num">decoded</span><span>checksum</span><span>dataset</span>
      </div>
      <VirtualList ref={list} count={segments.total} row={row} onRows={onRows} className="segments" label="Segments" role="grid" onKeyDown={onKeyDown} />
    </section>
  );
}
