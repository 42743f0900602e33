// Button that copies a command. Where the browser refuses the clipboard, the text is shown selected.
import { useEffect, useRef, useState } from 'react';

export function CopyCommand({ command, label = 'Copy command', visible = false }) {
  const [state, setState] = useState(null);
  const text = useRef(null);
  useEffect(() => setState(null), [command]);
  useEffect(() => { if (state === 'refused') text.current?.select(); }, [state]);
  async function copy() {
    try {
      await navigator.clipboard.writeText(command);
      setState('copied');
    } catch {
      setState('refused');
    }
  }
  return (
    <span className="copy">
      {(visible || state === 'refused') && <input ref={text} readOnly value={command} aria-label="Command" onFocus={(event) => event.target.select()} />}
      <button type="button" onClick={copy} title={command}>{label}</button>
      <span role="status">{state === 'copied' && 'copied'}{state === 'refused' && 'press Ctrl+C'}</span>
    </span>
  );
}
