// Drawing of a curve on a canvas: axes with their ends, a line, and a mark.
import { numberText } from '../format.js';

const LEFT = 74;
const RIGHT = 12;
const TOP = 8;
const BOTTOM = 22;

/** Least and greatest finite value. */
function endsOf(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low > high) return [0, 1];
  return low === high ? [low - 0.5, high + 0.5] : [low, high];
}

/** Index of the step nearest to the given one; steps rise. */
export function nearestIndex(steps, step) {
  let [low, high] = [0, steps.length - 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (steps[middle] < step) low = middle + 1;
    else high = middle;
  }
  return low > 0 && step - steps[low - 1] < steps[low] - step ? low - 1 : low;
}

/** Step at a horizontal place on the canvas. */
export function stepAt(x, width, steps) {
  const [low, high] = endsOf(steps);
  return low + ((x - LEFT) / (width - LEFT - RIGHT)) * (high - low);
}

export function drawCurve(context, { width, height }, { values, steps }, step, colors) {
  const [x0, x1] = endsOf(steps);
  const [y0, y1] = endsOf(values);
  const xOf = (value) => LEFT + ((value - x0) / (x1 - x0)) * (width - LEFT - RIGHT);
  const yOf = (value) => TOP + (1 - (value - y0) / (y1 - y0)) * (height - TOP - BOTTOM);
  context.clearRect(0, 0, width, height);
  context.font = '12px system-ui, sans-serif';
  context.fillStyle = colors.text;
  context.textAlign = 'right';
  context.fillText(numberText(y1), LEFT - 6, TOP + 10);
  context.fillText(numberText(y0), LEFT - 6, height - BOTTOM);
  context.fillText(numberText(x1), width - RIGHT, height - 6);
  context.textAlign = 'left';
  context.fillText(numberText(x0), LEFT, height - 6);
  context.textAlign = 'center';
  context.fillText('step', LEFT + (width - LEFT - RIGHT) / 2, height - 6);
  context.strokeStyle = colors.text;
  context.globalAlpha = 0.35;
  context.strokeRect(LEFT, TOP, width - LEFT - RIGHT, height - TOP - BOTTOM);
  context.globalAlpha = 1;
  if (step != null) {
    context.strokeStyle = colors.mark;
    context.beginPath();
    context.moveTo(xOf(step), TOP);
    context.lineTo(xOf(step), height - BOTTOM);
    context.stroke();
  }
  context.strokeStyle = colors.line;
  context.lineWidth = 1.5;
  context.beginPath();
  tracePath(context, values, steps, xOf, yOf);
  context.stroke();
}

/** Adds the line to the path. Of many points in one pixel column only the first, least, greatest and last are drawn. */
function tracePath(context, values, steps, xOf, yOf) {
  let pen = false;
  let i = 0;
  while (i < values.length) {
    const column = Math.floor(xOf(steps[i]));
    let [least, most, end] = [i, i, i];
    while (end + 1 < values.length && Math.floor(xOf(steps[end + 1])) === column) {
      end += 1;
      if (values[end] < values[least]) least = end;
      if (values[end] > values[most]) most = end;
    }
    for (const k of new Set([i, Math.min(least, most), Math.max(least, most), end])) {
      if (!Number.isFinite(values[k])) {
        pen = false;
      } else if (pen) {
        context.lineTo(xOf(steps[k]), yOf(values[k]));
      } else {
        context.moveTo(xOf(steps[k]), yOf(values[k]));
        pen = true;
      }
    }
    i = end + 1;
  }
}
