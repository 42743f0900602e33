// List of rows of one height, of which only the visible ones are in the document: trees of 100,000 lines, a million segments.
import { forwardRef, useEffect, useImperativeHandle, useState } from 'react';
import { useSize } from './use-load.js';

export const ROW_HEIGHT = 22;
/** Browsers limit the height of an element (Chromium: 2^25 pixels). Beyond this one, scrolling is scaled. */
const MAX_HEIGHT = 16_000_000;
const MARGIN_ROWS = 10;

/**
 * `row(index, style)` renders a row; `style` places it. The handle has `show(index)`, which scrolls a row to the middle
 * unless it is visible. `onRows(first, end)` is called when other rows than before are visible.
 */
export const VirtualList = forwardRef(function VirtualList({ count, row, className, label, onRows, ...rest }, handle) {
  const [ref, { height }] = useSize();
  const [top, setTop] = useState(0);
  const full = count * ROW_HEIGHT;
  const inner = Math.min(full, MAX_HEIGHT);
  const scale = inner > height ? (full - height) / (inner - height) : 1;
  const virtualTop = top * scale;
  const first = Math.max(0, Math.floor(virtualTop / ROW_HEIGHT) - MARGIN_ROWS);
  const end = Math.min(count, Math.ceil((virtualTop + height) / ROW_HEIGHT) + MARGIN_ROWS);

  useImperativeHandle(handle, () => ({
    show(index) {
      const at = index * ROW_HEIGHT;
      if (at >= virtualTop && at + ROW_HEIGHT <= virtualTop + height) return;
      ref.current.scrollTop = Math.max(0, at - height / 2) / scale;
    },
  }), [virtualTop, height, scale]);

  useEffect(() => { if (height > 0) onRows?.(first, end); }, [first, end, height > 0]);

  const rows = [];
  for (let index = first; index < end; index++) rows.push(row(index, { top: top + index * ROW_HEIGHT - virtualTop, height: ROW_HEIGHT }));
  return (
    <div ref={ref} className={`virtual ${className ?? ''}`} aria-label={label} tabIndex={0} onScroll={(event) => setTop(event.currentTarget.scrollTop)} {...rest}>
      <div role="presentation" className="virtual-inner" style={{ height: inner }}>{rows}</div>
    </div>
  );
});
