// Line about the file: format, size, and the first of its details; the others on demand.
import { countText, sizeText } from './format.js';

const MAX_SHOWN = 5;

/** A detail as text: counts of bytes in their units, lists with commas, structures as JSON. */
function detailText(key, value) {
  if (typeof value === 'number') return /bytes$|^size$/.test(key) ? sizeText(value) : countText(value);
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object')) return value.join(', ');
  if (typeof value === 'object') return JSON.stringify(value).replace(/[{}"]/g, '').replaceAll(',', ', ').replaceAll(':', ': ');
  return String(value);
}

export function FileLine({ info }) {
  const details = Object.entries(info.details ?? {}).filter(([, value]) => value != null);
  const simple = details.filter(([key, value]) => typeof value !== 'object' && key !== 'frames').slice(0, MAX_SHOWN);
  return (
    <div className="file-line">
      <strong>{info.title} {info.version}</strong>
      {info.size != null && <span>{sizeText(info.size)}</span>}
      {info.frames != null && <span>{countText(info.frames)} {info.frames === 1 ? 'frame' : 'frames'}</span>}
      {simple.map(([key, value]) => <span key={key}>{key}: {detailText(key, value)}</span>)}
      {info.complete === false && <span className="warning">incomplete: a writer was stopped, or has not finished</span>}
      {details.length > simple.length && (
        <>
          <button type="button" className="link" popovertarget="details">all details</button>
          <dl id="details" popover="auto">
            {details.map(([key, value]) => <div key={key}><dt>{key}</dt><dd>{detailText(key, value)}</dd></div>)}
          </dl>
        </>
      )}
    </div>
  );
}
