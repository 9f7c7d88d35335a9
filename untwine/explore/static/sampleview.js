// One sample: original, reconstruction, counterpart without a block, what differs, and its neighbours in each block.

import * as api from "./api.js";
import { offers } from "./downloads.js";
import { button, complain, count, h, labelled, number, redraw, say, select, why } from "./dom.js";
import { sampleField } from "./samplefield.js";
import { at, difference, featureBars, tile } from "./show.js";
import { fileName, look, ofThisRun, on, position, put, store } from "./store.js";

const NEIGHBOURS = 6;
let panel;
let block = null;
let threshold = 0.1;
let asking = null;

export function startSample() {
  panel = h("aside", { class: "card panel", "aria-label": "Sample" });
  on("run", () => {
    asking?.abort();
    block = store.meta.changed_block;
    threshold = store.meta.image ? 0.1 : 0.25;
    panel.replaceChildren();
  });
  on("sample", (_, aloud) => load(aloud).catch(complain));
  on("theme", () => store.meta && store.sample !== null && load().catch(complain));
  return panel;
}

async function load(aloud = false) {
  const { here, alive } = ofThisRun();
  asking?.abort();
  asking = new AbortController();
  const { sample } = store;
  const [facts, made] = await Promise.all([
    api.json(here("facts"), { sample, neighbours: NEIGHBOURS }, asking.signal),
    api.packed(here("sample"), { sample, block: block ?? undefined }, asking.signal),
  ]);
  if (!alive()) return;
  const near = [...new Set(Object.values(facts.neighbours).flat().map((one) => one.sample))];
  redraw(panel, ...header(facts), ...body(made), ...neighbours(facts));
  panel.dataset.sample = sample;
  if (aloud) say(`Sample ${facts.position} is shown.`);
  await thumbnails(here, near, asking.signal);
}

function header(facts) {
  const go = sampleField(facts.sample, look);
  const known = facts.columns.filter((column) => column.text !== "");
  return [
    h("div", { class: "head" }, h("h2", { tabindex: "-1" }, `Sample ${facts.position}`), labelled("Go to", go)),
    facts.id ? h("p", { class: "faint id" }, facts.id) : null,
    known.length ? h("dl", { class: "facts" }, known.map((one) => h("div", {}, h("dt", {}, one.name), h("dd", {}, one.text)))) : null,
    h("div", { class: "slots", role: "group", "aria-label": "Take this sample to recombine" }, h("span", { class: "faint" }, "Recombine as"),
      ["A", "B", "C", "D"].map((slot) => button(slot, () => {
        put(slot, store.sample);
        say(`Sample ${facts.position} is ${slot}.`);
      }, { class: "quiet small", "aria-label": `Take sample ${facts.position} as ${slot}`, "data-key": slot }))),
  ].filter(Boolean);
}

function body(made) {
  const { original, reconstruction, counterpart } = made;
  const image = store.meta.image;
  const tiles = [["Original", original], ["Reconstruction", reconstruction]];
  if (counterpart) tiles.push([`Without ${block}`, counterpart]);
  const row = h("div", { class: "tiles" }, tiles.map(([caption, array]) => {
    const one = tile(caption);
    one.show(array);
    return one.element;
  }));
  const fields = { sample: store.sample, block: counterpart ? block : undefined };
  const out = offers("sample", fields, `sample-${position(store.sample)}`);
  if (!counterpart) {
    const text = "This method has a single block, so there is no counterpart without one; here is what the reconstruction changes.";
    return [row, h("p", { class: "faint" }, text), change(original, reconstruction, row), out];
  }
  const blocks = store.meta.choices;
  const chooser = labelled("Without the block", select(blocks.map((one) => ({ value: one, text: one })), block, (one) => {
    block = one;
    load().catch(complain);
  }));
  return [row, chooser, change(reconstruction, counterpart, image ? row : null), out];
}

// The difference map, or the features that change, with the slider of their threshold.
function change(from, to, row) {
  const image = store.meta.image;
  const words = h("p", { class: "faint", "aria-live": "off" });
  const slider = h("input", { type: "range", min: "0", max: image ? "0.6" : "2", step: image ? "0.01" : "0.05", value: String(threshold) });
  const output = h("output", {});
  const holder = h("div", {});
  const map = image ? tile("Difference") : null;
  if (map) row.append(map.element);
  function draw() {
    threshold = Number(slider.value);
    output.textContent = number(threshold, 2);
    if (image) {
      const { share, most, down, up } = difference(map.canvas, from, to, threshold);
      words.replaceChildren(
        `${number(100 * share, 1)} % of the pixels change by more than ${number(threshold, 2)}, the largest by ${number(most, 2)} (1 is from black to white): `,
        key(down, "darker"), ", ", key(up, "brighter"), ".");
    } else {
      const { element, beyond } = featureBars(from, to, threshold);
      holder.replaceChildren(...(beyond ? [element] : []));
      words.textContent = `${beyond || "None"} of ${count(store.meta.features.length, "feature")} ${beyond === 1 ? "changes" : "change"} by more than ${number(threshold, 2)} of ${beyond === 1 ? "its" : "their"} standard deviation${beyond > 15 ? "; the 15 that change most" : ""}.`;
    }
  }
  slider.addEventListener("input", draw);
  draw();
  return h("div", { class: "change" }, h("div", { class: "slider" }, labelled("Threshold", slider), output, why("difference", "the difference")), words, holder);
}

const key = (colour, text) => h("span", { class: "key" }, h("i", { style: { background: colour } }), text);

let waiting = []; // tiles of neighbours: [sample, tile]

function neighbours(facts) {
  waiting = [];
  const sections = Object.entries(facts.neighbours).map(([name, near]) => h("section", { class: "near" },
    h("h3", {}, `Nearest in the ${name} block`, why("neighbours", "a neighbour")),
    h("div", { class: "thumbs" }, near.map(({ sample, distance }) => {
      const one = tile(number(distance, 2), { about: `Sample ${position(sample)}, distance ${number(distance, 2)}`, small: true, press: () => look(sample) });
      one.element.title = `Sample ${position(sample)}, distance ${number(distance, 2)}`;
      waiting.push([sample, one]);
      return one.element;
    }))));
  return sections;
}

async function thumbnails(here, samples, signal) {
  if (!samples.length) return;
  const { originals } = await api.packed(here("originals"), { samples: samples.join(",") }, signal);
  const place = new Map(samples.map((sample, k) => [sample, k]));
  for (const [sample, one] of waiting) one.show(at(originals, place.get(sample)));
}
