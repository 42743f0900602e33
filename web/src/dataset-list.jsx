// The list of datasets at the left of the tabs other than Values.
import { countText, dtypeText, shapeText } from './format.js';

export function DatasetList({ info, path, onSelect, filter }) {
  const datasets = filter ? info.datasets.filter(filter) : info.datasets;
  return (
    <nav className="datasets" aria-label="Datasets">
      {datasets.length === 0 && <p className="quiet pad">No datasets.</p>}
      <ul>
        {datasets.map((one) => (
          <li key={one.path}>
            <button type="button" aria-current={one.path === path || undefined} title={one.path} onClick={() => onSelect(one.path)}>
              <span className="name">{one.path}</span>
              <span className="kind">{shapeText(one.shape)} · {dtypeText(one.dtype)}{one.codec && one.codec !== 'none' && ` · ${one.codec}`}</span>
            </button>
          </li>
        ))}
      </ul>
      {info.more > 0 && <p className="quiet pad">{countText(info.more)} more in the tab Values.</p>}
    </nav>
  );
}
