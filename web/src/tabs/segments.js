// Segments of the layout in pages, and what the strip and the table need of them.
import { useMemo, useRef, useState } from 'react';
import { callJson } from '../api.js';
import { rangeOf } from '../use-verify.js';

export const PAGE = 10_000;
const DEAD_ROLES = /^(dead|orphan|unknown|gap|trailing|unreadable|unused)/;

/** Loads pages of segments on demand. `error` is that of the last page that could not be loaded. */
export function useSegments(file, firstPage) {
  const pages = useRef(new Map([[0, firstPage.segments]])).current;
  const [state, setState] = useState({ version: 0, error: null });
  return useMemo(() => {
    const total = firstPage.total;
    async function load(page) {
      if (page < 0 || page * PAGE >= total) return [];
      if (!pages.has(page)) {
        pages.set(page, callJson('api/layout', { file, from: page * PAGE, n: PAGE }).then(
          ({ segments }) => {
            pages.set(page, segments);
            setState(({ version }) => ({ version: version + 1, error: null }));
            return segments;
          },
          (error) => {
            pages.delete(page);
            setState(({ version }) => ({ version: version + 1, error }));
            return [];
          },
        ));
      }
      return pages.get(page);
    }
    const pageOf = (page) => (Array.isArray(pages.get(page)) ? pages.get(page) : null);
    // Slices do not cross pages.
    const slice = (from, end) => pageOf(Math.floor(from / PAGE))?.slice(from % PAGE, (from % PAGE) + end - from) ?? null;
    return { total, error: state.error, load, slice, at: (i) => pageOf(Math.floor(i / PAGE))?.[i % PAGE] ?? null };
  }, [file, state]);
}

const inPart = (segment, part) => part == null || segment.part == null || segment.part === part;

/** Finds the segment that contains the start of a range, or the last one before it. Pages are searched by halves if the
 * file has one part, else in order. */
export async function findSegment(segments, { range: [start], part }) {
  let [low, high] = [0, Math.max(0, Math.ceil(segments.total / PAGE) - 1)];
  if (part == null) {
    while (low < high) {
      const middle = Math.floor((low + high + 1) / 2);
      const [first] = await segments.load(middle);
      if (!first) break;
      if (first.start <= start) low = middle;
      else high = middle - 1;
    }
    high = low;
  }
  let best = null;
  for (let page = low; page <= high; page++) {
    const list = await segments.load(page);
    for (let i = 0; i < list.length; i++) {
      const one = list[i];
      if (!inPart(one, part) || one.start > start) continue;
      best = page * PAGE + i;
      if (start < one.end) return best;
    }
  }
  return best;
}

/** Every segment that is shown is compared with each fault. */
const MAX_FAULTS = 1000;

/** Ranges of the errors of a report, for `kindOf`. */
export function faultRanges(report) {
  return (report?.findings ?? [])
    .filter((one) => one.severity === 'error' && rangeOf(one))
    .slice(0, MAX_FAULTS)
    .map((one) => ({ range: rangeOf(one), part: one.part ?? null }));
}

/** Whether a role is that of bytes outside every structure. */
export const isDead = (role) => DEAD_ROLES.test(role);

/** `fault` where an error of verify overlaps, `dead` for dead bytes, else an empty text. */
export function kindOf(segment, faults) {
  const isFault = faults.some(({ range: [start, end], part }) => inPart(segment, part)
    && segment.start < Math.max(end, start + 1) && start < segment.end);
  if (isFault) return 'fault';
  return isDead(segment.role) ? 'dead' : '';
}
