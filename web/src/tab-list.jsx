// The row of tabs, by the ARIA pattern: one tab stop, arrow keys, Home and End.
import { useRef } from 'react';
import { TABS } from './tabs/index.js';

export function TabList({ ids, current, onSelect }) {
  const row = useRef(null);
  function onKeyDown(event) {
    const at = ids.indexOf(current);
    const next = { ArrowRight: (at + 1) % ids.length, ArrowLeft: (at + ids.length - 1) % ids.length, Home: 0, End: ids.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    onSelect(ids[next]);
    row.current.children[next].focus();
  }
  return (
    <div className="tabs" role="tablist" aria-label="Views of the file" ref={row} onKeyDown={onKeyDown}>
      {ids.map((id) => (
        <button
          key={id} type="button" role="tab" id={`tab-${id}`} aria-controls="panel" aria-selected={id === current}
          tabIndex={id === current ? 0 : -1} onClick={() => onSelect(id)}
        >
          {TABS[id].label}
        </button>
      ))}
    </div>
  );
}
