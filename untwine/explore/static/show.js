// Samples as a person sees them: images pixel by pixel, vectors as bars.

import { css, curveColour, rgb, theme } from "./colours.js";
import { h, number } from "./dom.js";
import { store } from "./store.js";

// One sample of a packed array: its values, and its shape without the leading axes.
export function at(array, ...index) {
  const shape = array.shape.slice(index.length);
  const size = shape.reduce((product, side) => product * side, 1);
  const start = index.reduce((sum, i, axis) => sum * array.shape[axis] + i, 0) * size;
  return { values: array.values.subarray(start, start + size), shape };
}

export function paint(canvas, { values, shape }) {
  if (shape.length === 1) return profile(canvas, values);
  const [channels, height, width] = shape;
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  const plane = width * height;
  for (let i = 0; i < plane; i += 1) {
    for (let c = 0; c < 3; c += 1) image.data[4 * i + c] = values[channels === 3 ? c * plane + i : i];
    image.data[4 * i + 3] = 255;
  }
  context.putImageData(image, 0, 0);
}

const MAX_BARS = 120;

// A vector as thin bars, each feature in its standard deviations from 0; of very many features neighbours share a bar.
function profile(canvas, values) {
  canvas.width = 240;
  canvas.height = 150;
  const context = canvas.getContext("2d");
  context.clearRect(0, 0, 240, 150);
  const bars = Math.min(MAX_BARS, values.length);
  const std = store.meta.feature_std;
  const heights = new Float32Array(bars);
  for (let i = 0; i < values.length; i += 1) {
    const bar = Math.floor((i * bars) / values.length);
    const one = values[i] / (std[i] || 1);
    if (Math.abs(one) > Math.abs(heights[bar])) heights[bar] = one;
  }
  const most = Math.max(3, ...heights.map(Math.abs));
  const width = 240 / bars;
  heights.forEach((one, bar) => {
    context.fillStyle = one < 0 ? curveColour(3) : curveColour(0);
    const size = (Math.abs(one) / most) * 70;
    context.fillRect(bar * width, one < 0 ? 75 : 75 - size, Math.max(1, width - (width > 3 ? 1 : 0)), size);
  });
  context.fillStyle = "#8888";
  context.fillRect(0, 74.5, 240, 1);
}

// A figure with a canvas and a caption; its `show` paints another sample.
export function tile(caption, { about = caption, small = false, press = null } = {}) {
  const canvas = h("canvas", { role: "img", "aria-label": String(about), class: "sample" });
  const text = h("figcaption", {}, caption);
  const body = press
    ? h("button", { type: "button", class: "bare", "aria-label": `${about}: show this sample`, on: { click: press } }, canvas)
    : canvas;
  const element = h("figure", { class: small ? "tile small" : "tile" }, body, caption === "" ? null : text);
  return {
    element,
    canvas,
    show(array, label) {
      paint(canvas, array);
      canvas.classList.toggle("vector", array.shape.length === 1);
      if (label !== undefined) text.textContent = label;
    },
  };
}

// What changes between two images: less where it turns darker (blue), more where it turns brighter (orange).
export function difference(canvas, from, to, threshold) {
  const [channels, height, width] = from.shape;
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  const plane = width * height;
  const change = new Float32Array(plane);
  const light = new Float32Array(plane);
  let most = 0.05;
  for (let i = 0; i < plane; i += 1) {
    let size = 0;
    for (let c = 0; c < channels; c += 1) {
      const one = (to.values[c * plane + i] - from.values[c * plane + i]) / 255;
      change[i] += one / channels;
      size += Math.abs(one) / channels;
      light[i] += from.values[c * plane + i] / 255 / channels;
    }
    change[i] = change[i] < 0 ? -size : size;
    most = Math.max(most, size);
  }
  const paper = theme() === "dark" ? 30 : 246;
  const [down, up] = theme() === "dark" ? [rgb("#56b4e9"), rgb("#ff8a57")] : [rgb("#0060a8"), rgb("#d55e00")];
  let beyond = 0;
  for (let i = 0; i < plane; i += 1) {
    const size = Math.abs(change[i]);
    const over = size > threshold;
    beyond += over;
    const faint = theme() === "dark" ? paper + 50 * light[i] : paper - 50 * (1 - light[i]);
    const weight = over ? 0.25 + 0.75 * (size / most) : 0;
    for (let c = 0; c < 3; c += 1) image.data[4 * i + c] = faint + weight * ((change[i] < 0 ? down : up)[c] - faint);
    image.data[4 * i + 3] = 255;
  }
  context.putImageData(image, 0, 0);
  return { share: beyond / plane, most, down: css(down), up: css(up) };
}

// The features that change most, in their standard deviations, as bars with names; those below the threshold are left out.
export function featureBars(from, to, threshold = 0, most = 15) {
  const { features, feature_std: std } = store.meta;
  const changes = features.map((name, i) => ({ name, from: from.values[i], to: to.values[i], size: (to.values[i] - from.values[i]) / std[i] }));
  const shown = changes.filter((one) => Math.abs(one.size) > threshold).sort((a, b) => Math.abs(b.size) - Math.abs(a.size));
  const widest = Math.max(1e-12, ...shown.slice(0, most).map((one) => Math.abs(one.size)));
  const lines = shown.slice(0, most).map((one) => {
    const share = `${(50 * Math.abs(one.size)) / widest}%`;
    const side = one.size < 0 ? { right: "50%" } : { left: "50%" };
    return h("tr", {},
      h("th", { scope: "row", title: one.name }, one.name),
      h("td", { class: "bar" }, h("span", { class: one.size < 0 ? "down" : "up", style: { width: share, ...side } })),
      h("td", { class: "figure", title: `${number(one.from)} → ${number(one.to)}` }, `${one.size > 0 ? "+" : ""}${number(one.size, 2)}`));
  });
  const head = h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Feature"), h("th", { scope: "col" }, "Change"), h("th", { scope: "col" }, "std")));
  const table = h("table", { class: "features" }, head, h("tbody", {}, lines));
  return { element: lines.length ? table : h("p", { class: "faint" }, "No feature changes."), beyond: shown.length };
}
