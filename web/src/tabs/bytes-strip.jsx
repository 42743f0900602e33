// Strip of some hundred segments: the width of each follows the logarithm of its length.
import { useEffect, useMemo, useRef, useState } from 'react';
import { countText, sizeText } from '../format.js';
import { useSize } from '../use-load.js';
import { isDead, kindOf } from './segments.js';

const HEIGHT = 44;
const MAX_LEGEND = 14;

/** Hues of the roles that most files have; others get one by their letters. */
const ROLE_HUES = {
  header: 215, 'block header': 300, data: 165, tree: 265, comments: 75, index: 195, chunk: 95, block: 175, trailer: 240, padding: 48,
  metalayers: 320, metadata: 320, namelist: 285, digest: 60, offsets: 195,
};

/** Colour of a role, the same in every file; red is for faults, brown for dead bytes. */
function colorOf(role) {
  if (isDead(role)) return '#a8836a';
  if (role in ROLE_HUES) return `hsl(${ROLE_HUES[role]} 55% 55%)`;
  let hash = 7;
  for (const letter of role) hash = (hash * 31 + letter.codePointAt(0)) % 9973;
  return `hsl(${40 + (hash * 47) % 290} 55% 55%)`;
}

/** Left ends of the segments as parts of the width, with a last entry of 1. */
function edgesOf(segments) {
  const edges = new Float64Array(segments.length + 1);
  segments.forEach((one, i) => { edges[i + 1] = edges[i] + 1 + Math.log2(1 + one.end - one.start); });
  const full = edges[segments.length] || 1;
  return edges.map((edge) => edge / full);
}

export function BytesStrip({ segments, from, total, faults, selected, onSelect }) {
  const [box, { width }] = useSize();
  const canvas = useRef(null);
  const [under, setUnder] = useState(null);
  const edges = useMemo(() => edgesOf(segments), [segments]);
  const kinds = useMemo(() => segments.map((one) => kindOf(one, faults)), [segments, faults]);
  const roles = useMemo(() => [...new Set(segments.map((one) => one.role))], [segments]);

  useEffect(() => {
    if (width === 0) return;
    const scale = devicePixelRatio;
    canvas.current.width = Math.round(width * scale);
    canvas.current.height = HEIGHT * scale;
    const draw = canvas.current.getContext('2d');
    draw.scale(scale, scale);
    const gap = segments.length < width / 4 ? 1 : 0;
    segments.forEach((one, i) => {
      draw.fillStyle = colorOf(one.role);
      draw.fillRect(edges[i] * width, 6, Math.max(0.5, (edges[i + 1] - edges[i]) * width - gap), HEIGHT - 12);
    });
    // Faults last and never narrower than two pixels: a short one must be seen too.
    draw.fillStyle = '#e02020';
    kinds.forEach((kind, i) => { if (kind === 'fault') draw.fillRect(edges[i] * width, 0, Math.max(2, (edges[i + 1] - edges[i]) * width - gap), HEIGHT); });
    const at = selected == null ? -1 : selected - from;
    if (at >= 0 && at < segments.length) {
      // Bars above and below, because a frame would hide a narrow segment.
      draw.fillStyle = getComputedStyle(canvas.current).color;
      const length = Math.max(5, (edges[at + 1] - edges[at]) * width);
      const left = Math.max(0, (edges[at] + edges[at + 1]) / 2 * width - length / 2);
      for (const top of [0, HEIGHT - 4]) draw.fillRect(left, top, length, 4);
    }
  }, [segments, kinds, width, selected, from]);

  function segmentAt(event) {
    const { left } = event.currentTarget.getBoundingClientRect();
    const part = (event.clientX - left) / width;
    let [low, high] = [0, segments.length - 1];
    while (low < high) {
      const middle = Math.floor((low + high + 1) / 2);
      if (edges[middle] <= part) low = middle;
      else high = middle - 1;
    }
    return low;
  }
  const one = under == null ? null : segments[under];
  const last = from + segments.length;
  return (
    <div className="strip" ref={box}>
      <canvas
        ref={canvas} role="img" aria-label="Map of the bytes; the table below has the same segments"
        onClick={(event) => onSelect(from + segmentAt(event))}
        onPointerMove={(event) => setUnder(segmentAt(event))} onPointerLeave={() => setUnder(null)}
      />
      <p className="legend">
        {one
          ? <span>{one.role}: bytes {countText(one.start)} – {countText(one.end)}, {sizeText(one.end - one.start)}{one.dataset && `, ${one.dataset}`}</span>
          : roles.slice(0, MAX_LEGEND).map((role) => <span key={role}><i style={{ background: colorOf(role) }} />{role}</span>)}
        {total > segments.length && <span className="quiet">segments {countText(from)} – {countText(last)} of {countText(total)}</span>}
      </p>
    </div>
  );
}
