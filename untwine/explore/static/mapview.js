// The map: one plot for each block, side by side, with the same colours, selection and current sample.

import * as api from "./api.js";
import { colourPoints } from "./colours.js";
import { button, choices, complain, count, h, labelled, number, redraw, say, select, why } from "./dom.js";
import { Scatter } from "./scatter.js";
import { selectionBar } from "./selection.js";
import { choose, fileName, here, look, ofThisRun, on, position, store } from "./store.js";
import { Tip } from "./tip.js";

const TOO_MANY = 256; // latents of a block that are listed one by one

let plots = []; // { block, scatter, title }
let legend;
let values = new Map(); // of columns and codes, by key
let generation = 0; // of planes that are asked for: answers to earlier ones are left
let asked = null; // the colour

export function startMap(view, panel) {
  on("run", () => build(view, panel));
  on("selection", () => {
    for (const { scatter } of plots) scatter.setSelected(store.selected, store.selectedCount > 0);
    drawLegend();
  });
  on("sample", () => plots.forEach(({ scatter }) => scatter.setCurrent(store.sample)));
  on("theme", () => {
    recolour();
    plots.forEach(({ scatter }) => scatter.draw());
  });
}

function build(view, panel) {
  generation += 1;
  values = new Map();
  const tip = new Tip(describe);
  plots = Object.entries(store.meta.blocks).map(([block, width]) => {
    const state = h("span", { class: "state" });
    const scatter = new Scatter(`${block} block`, {
      hover: (i, x, y) => {
        plots.forEach((plot) => plot.scatter.setHovered(i));
        tip.show(i, x, y);
      },
      pick: look,
      lasso: (found, mode) => {
        choose(found, mode);
        say(`${count(store.selectedCount, "sample")} selected.`);
      },
      focus: (i) => {
        plots.forEach((plot) => plot.scatter.setHovered(i));
        say(describe(i).join(", "));
      },
      toggle: (i) => {
        if (i === null) return;
        choose([i], store.selected[i] ? "remove" : "add");
        say(`${count(store.selectedCount, "sample")} selected.`);
      },
    });
    const heading = h("h2", {}, `${block} block`, h("small", {}, ` ${count(width, "latent")}`), state);
    const save = button("Image", () => scatter.base.toBlob((blob) => api.keep(blob, fileName(`${block}-map`, "png"))), {
      class: "quiet small", "aria-label": `Download the map of the ${block} block as an image`,
    });
    return { block, scatter, state, element: h("section", { class: "card map" }, h("div", { class: "head" }, heading, save), scatter.element) };
  });
  legend = h("div", { class: "legend" });
  const maps = h("div", { class: `maps of-${Math.min(3, plots.length)}` }, plots.map((plot) => plot.element));
  view.replaceChildren(h("h1", { class: "hidden" }, "Map"), h("div", { class: "split" },
    h("div", { class: "left" }, toolbar(), maps, legend, selectionBar()), panel));
  for (const { scatter } of plots) scatter.setCurrent(store.sample);
  setColour(startingColour()).catch(complain);
  loadPlanes(generation).catch(complain);
  document.body.append(tip.element);
}

function toolbar() {
  const zoom = (factor) => () => plots.forEach(({ scatter }) => scatter.zoomBy(factor));
  const all = () => plots.forEach(({ scatter }) => scatter.zoomBy(0));
  return h("div", { class: "toolbar", role: "group", "aria-label": "How the map is shown" },
    labelled("Colour by", select(colourOptions(), startingColour(), (key) => setColour(key).catch(complain))),
    choices("Plane", [
      { value: "tsne", text: "t-SNE", title: "Neighbours stay neighbours; large distances mean little" },
      { value: "pca", text: "PCA", title: "The two directions in which the codes vary most" },
    ], store.plane, (plane) => {
      store.plane = plane;
      loadPlanes((generation += 1)).catch(complain);
    }),
    why("t-SNE", "a plane of codes"),
    choices("", [
      { value: "select", text: "Lasso", title: "Shift adds to the selection, Alt takes away" },
      { value: "move", text: "Move", title: "The wheel zooms" },
    ], "select", (tool) => plots.forEach(({ scatter }) => (scatter.tool = tool, scatter.element.classList.toggle("moves", tool === "move")))),
    h("div", { class: "zoom" },
      button("+", zoom(1.5), { class: "quiet small", "aria-label": "Zoom in" }),
      button("−", zoom(1 / 1.5), { class: "quiet small", "aria-label": "Zoom out" }),
      button("Whole", all, { class: "quiet small", "aria-label": "Show the whole map" })));
}

function colourOptions() {
  const known = store.meta.columns.map((column, k) => ({ value: `column:${k}`, text: column.name === column.kind ? column.name : `${column.name} (${column.kind})` }));
  const codes = Object.entries(store.meta.blocks).map(([block, width]) => ({
    group: width > TOO_MANY ? `Codes of the ${block} block (the first ${TOO_MANY})` : `Codes of the ${block} block`,
    options: Array.from({ length: Math.min(width, TOO_MANY) }, (_, k) => ({ value: `code:${block}:${k}`, text: `${block} ${k}` })),
  }));
  return [...(known.length ? [{ group: "Known of the samples", options: known }] : []), ...codes];
}

function startingColour() {
  const { columns, blocks } = store.meta;
  const best = ["label", "group", "covariate", "factor"].map((kind) => columns.findIndex((column) => column.kind === kind)).find((k) => k >= 0);
  return best === undefined ? `code:${Object.keys(blocks)[0]}:0` : `column:${best}`;
}

async function fetched(key) {
  if (!values.has(key)) {
    const [kind, one, latent] = key.split(":");
    const request = kind === "column" ? api.packed(here("column"), { column: one }) : api.packed(here("code"), { block: one, latent });
    values.set(key, request.then((answer) => answer.values.values));
  }
  return values.get(key);
}

async function setColour(key) {
  const { alive } = ofThisRun();
  const [kind, one, latent] = key.split(":");
  asked = key;
  const found = await fetched(key);
  if (!alive() || asked !== key) return;
  if (kind === "column") {
    const { name, levels, low, high } = store.meta.columns[one];
    store.colour = { key, name, levels, low, high, values: found };
  } else {
    const sorted = Float32Array.from(found).sort();
    const [low, high] = [0.01, 0.99].map((share) => sorted[Math.floor(share * (sorted.length - 1))]);
    store.colour = { key, name: `${one} ${latent}`, levels: [], low, high, values: found };
  }
  recolour();
}

function recolour() {
  if (!store.colour || store.colour.values.length !== store.meta?.n) return;
  const { values: of, levels, low, high } = store.colour;
  const { points, legend: entries } = colourPoints(of, levels, low, high);
  store.colour.legend = entries;
  for (const { scatter } of plots) scatter.setColours(points);
  drawLegend();
}

function drawLegend() {
  if (!legend || !store.colour?.legend) return;
  const { name, values: of, legend: shown } = store.colour;
  const title = h("p", { class: "legend-title" }, name);
  if (shown.gradient) {
    redraw(legend, title, h("div", { class: "gradient" },
      h("span", {}, number(shown.low, 2)), h("i", { style: { background: shown.gradient } }), h("span", {}, number(shown.high, 2))));
    return;
  }
  const entries = shown.entries.map((entry) => h("li", {}, h("button", {
    type: "button", class: "entry", title: `Select the ${count(entry.count, "sample")} of ${entry.text}`,
    on: {
      click: (event) => {
        const wanted = new Set(entry.levels);
        const found = [];
        of.forEach((value, i) => (Number.isNaN(value) ? !entry.levels.length : wanted.has(value)) && found.push(i));
        choose(found, event.shiftKey ? "add" : "replace");
        say(`${count(store.selectedCount, "sample")} selected.`);
      },
    },
  }, h("i", { style: { background: entry.colour } }), h("span", {}, entry.text), h("small", {}, entry.count.toLocaleString("en")))));
  redraw(legend, title, h("ul", {}, entries));
}

// PCA first, which is there at once; t-SNE as soon as it is computed.
async function loadPlanes(turn) {
  await Promise.all(plots.map((plot) => loadPlane(plot, "pca", turn)));
  if (store.plane === "tsne") await Promise.all(plots.map((plot) => loadPlane(plot, "tsne", turn)));
}

async function loadPlane(plot, plane, turn) {
  const { here, alive } = ofThisRun();
  for (let wait = 250; turn === generation && alive(); wait = Math.min(2000, wait * 1.4)) {
    let answer;
    try {
      answer = await api.packed(here("map"), { block: plot.block, plane });
    } catch (error) {
      plot.state.textContent = error.message;
      return;
    }
    if (turn !== generation || !alive()) return;
    if (answer) {
      if (plane !== store.plane && plot.plane === store.plane) return; // t-SNE is there already
      plot.scatter.setPoints(answer.points.values);
      plot.plane = plane;
      plot.element.dataset.plane = plane;
      plot.state.textContent = plane === "tsne" ? "t-SNE" : "PCA";
      return;
    }
    plot.state.textContent = "PCA, while t-SNE is computed …";
    await new Promise((done) => setTimeout(done, wait));
  }
}

function describe(i) {
  const lines = [`Sample ${position(i)}`];
  const { name, levels, values: of } = store.colour ?? {};
  if (of && !Number.isNaN(of[i])) lines.push(`${name}: ${levels.length ? levels[of[i]] : number(of[i], 2)}`);
  if (store.selected[i]) lines.push("selected");
  return lines;
}
