// Stretch, range, colours and origin of the picture.
import { useState } from 'react';

const RANGES = [['p0.25,99.75', '99.5 percent'], ['zscale', 'zscale'], ['minmax', 'min – max'], ['custom', 'from – to']];

export function PictureControls({ look, setLook, maps, picture }) {
  const change = (key) => (event) => setLook({ ...look, [key]: event.target.value || null });
  return (
    <div className="controls">
      <Choice label="Stretch" value={look.stretch} onChange={change('stretch')} options={['linear', 'sqrt', 'log', 'asinh']} />
      <RangeChoice look={look} setLook={setLook} picture={picture} />
      <Choice label="Colours" value={look.cmap} onChange={change('cmap')} options={maps.length > 0 ? maps : [look.cmap]} />
      <Choice label="First row" value={look.origin} onChange={change('origin')} options={[['upper', 'at the top'], ['lower', 'at the bottom']]} />
    </div>
  );
}

/** A labelled select; an option is a value or a pair of value and text. */
export function Choice({ label, value, onChange, options }) {
  return (
    <label>
      {label}
      <select aria-label={label} value={value} onChange={onChange}>
        {options.map((option) => {
          const [key, text] = Array.isArray(option) ? option : [option, option];
          return <option key={key} value={key}>{text}</option>;
        })}
      </select>
    </label>
  );
}

function RangeChoice({ look, setLook, picture }) {
  const isNamed = RANGES.some(([key]) => key === look.range);
  const [low, high] = isNamed ? [picture?.low ?? 0, picture?.high ?? 1] : look.range.split(',').map(Number);
  const [draft, setDraft] = useState(null);
  function choose(event) {
    setDraft(null);
    setLook({ ...look, range: event.target.value === 'custom' ? `${low},${high}` : event.target.value });
  }
  function apply(event) {
    event.preventDefault();
    const ends = (draft ?? [low, high]).map(Number);
    if (ends.every(Number.isFinite) && ends[0] < ends[1]) setLook({ ...look, range: ends.join(',') });
  }
  const texts = draft ?? [String(low), String(high)];
  const invalid = !(Number(texts[0]) < Number(texts[1]));
  return (
    <>
      <Choice label="Range" value={isNamed ? look.range : 'custom'} onChange={choose} options={RANGES} />
      {!isNamed && (
        <form className="ends" onSubmit={apply}>
          <input aria-label="Low" value={texts[0]} onChange={(event) => setDraft([event.target.value, texts[1]])} />
          <input aria-label="High" value={texts[1]} onChange={(event) => setDraft([texts[0], event.target.value])} />
          <button type="submit" disabled={invalid}>Apply</button>
          {invalid && <span role="alert" className="warning">the first number must be the smaller one</span>}
        </form>
      )}
    </>
  );
}
