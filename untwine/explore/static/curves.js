// Curves over epochs, as SVG: a line for each run, with its name at a legend and its last value in words.

import { curveColour } from "./colours.js";
import { h, number } from "./dom.js";

const [WIDTH, HEIGHT, LEFT, BOTTOM] = [640, 260, 64, 34];
const DASHES = ["", "7 4", "2 3", "9 3 2 3"];

const s = (tag, props, ...children) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(props)) element.setAttribute(name, value);
  element.append(...children);
  return element;
};

export function drawCurves(holder, lines, term) {
  const points = lines.flatMap((line) => line.epochs.map((x, i) => [x, line.values[i]]).filter(([, y]) => y !== null));
  if (!points.length) {
    holder.replaceChildren(h("p", { class: "empty" }, "No finite values of this term."));
    return;
  }
  const range = (k) => [Math.min(...points.map((p) => p[k])), Math.max(...points.map((p) => p[k]))];
  const [[x0, x1], [y0, y1]] = [range(0), range(1)];
  const x = (value) => LEFT + ((value - x0) / (x1 - x0 || 1)) * (WIDTH - LEFT - 12);
  const y = (value) => HEIGHT - BOTTOM - ((value - y0) / (y1 - y0 || 1)) * (HEIGHT - BOTTOM - 12);
  const axes = ticks(y0, y1).map((value) => s("g", {},
    s("line", { x1: LEFT, x2: WIDTH - 12, y1: y(value), y2: y(value), class: "rule" }),
    s("text", { x: LEFT - 8, y: y(value) + 4, "text-anchor": "end" }, number(value, 2))));
  const epochs = ticks(x0, x1).filter(Number.isInteger).map((value) => s("text", { x: x(value), y: HEIGHT - BOTTOM + 18, "text-anchor": "middle" }, String(value)));
  const paths = lines.map((line, k) => {
    const parts = [];
    let pen = "M";
    line.epochs.forEach((epoch, i) => {
      if (line.values[i] === null) pen = "M";
      else {
        parts.push(`${pen}${x(epoch).toFixed(1)} ${y(line.values[i]).toFixed(1)}`);
        pen = "L";
      }
    });
    return s("path", { d: parts.join(""), class: "curve", stroke: curveColour(line.colour), "stroke-dasharray": DASHES[Math.floor(line.colour / 10) % DASHES.length] });
  });
  const svg = s("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${term} by epoch for ${lines.map((line) => line.name).join(", ")}` },
    ...axes, ...epochs, s("text", { x: (LEFT + WIDTH) / 2, y: HEIGHT - 2, "text-anchor": "middle" }, "epoch"), ...paths);
  const legend = h("ul", { class: "curve-legend" }, lines.map((line) => h("li", {},
    h("i", { style: { background: curveColour(line.colour) } }), h("span", {}, line.name),
    h("small", {}, `ends at ${number([...line.values].reverse().find((value) => value !== null), 3)}`))));
  holder.replaceChildren(svg, legend);
}

function ticks(low, high) {
  const span = high - low || 1;
  const rough = span / 4;
  const size = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * size).find((one) => one >= rough);
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high + 1e-9 * span; value += step) found.push(Number(value.toPrecision(12)));
  return found;
}
