// Structure of indented text: depth of each line, its last descendant, and the lines that are visible.

/**
 * Depth of a line of YAML: twice its indent, plus one for an item of a list, because lists may stand at the indent of
 * their key.
 */
function depthOf(line) {
  let indent = 0;
  while (line.charCodeAt(indent) === 32) indent++;
  return 2 * indent + (line[indent] === '-' && (line[indent + 1] === ' ' || line.length === indent + 1) ? 1 : 0);
}

/** Splits the text. `last[i]` is the last line below line i, or i itself; `parent[i]` is -1 at the top. */
export function parseLines(text) {
  const lines = text.replace(/\n$/, '').split('\n');
  const last = new Int32Array(lines.length);
  const parent = new Int32Array(lines.length);
  const open = [];
  const depths = [];
  let lastText = 0;
  lines.forEach((line, i) => {
    // An empty line ends nothing, and is no descendant that could be folded.
    const depth = line.trim() === '' ? Infinity : depthOf(line);
    while (open.length > 0 && depths[depths.length - 1] >= depth) {
      last[open.pop()] = lastText;
      depths.pop();
    }
    parent[i] = open.length > 0 ? open[open.length - 1] : -1;
    last[i] = i;
    if (depth !== Infinity) {
      lastText = i;
      open.push(i);
      depths.push(depth);
    }
  });
  while (open.length > 0) last[open.pop()] = lastText;
  return { lines, last, parent };
}

/** Numbers of the lines that are not inside of a folded one. */
export function visibleLines({ lines, last }, folded) {
  const visible = [];
  for (let i = 0; i < lines.length; i++) {
    visible.push(i);
    if (folded.has(i)) i = last[i];
  }
  return visible;
}

/** Numbers of the lines that contain the text, in upper or lower case. */
export function findLines({ lines }, text) {
  const wanted = text.toLowerCase();
  const found = [];
  if (wanted === '') return found;
  lines.forEach((line, i) => { if (line.toLowerCase().includes(wanted)) found.push(i); });
  return found;
}

/** The found lines with the lines above them in the tree, in order. */
export function withParents({ parent }, found) {
  const kept = new Set();
  for (const line of found) for (let i = line; i >= 0 && !kept.has(i); i = parent[i]) kept.add(i);
  return [...kept].sort((a, b) => a - b);
}

/** Lines from `line` up to the top, without itself. */
export function parentsOf({ parent }, line) {
  const above = [];
  for (let i = parent[line]; i >= 0; i = parent[i]) above.push(i);
  return above;
}
