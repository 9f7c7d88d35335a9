// Recombine: four samples, and what becomes of them when blocks are swapped, mixed, changed or drawn anew.

import { between } from "./between.js";
import { button, h, labelled, select, why } from "./dom.js";
import { latents } from "./latents.js";
import { draws, grid, swap } from "./swaps.js";
import * as api from "./api.js";
import { complain } from "./dom.js";
import { sampleField } from "./samplefield.js";
import { at, tile } from "./show.js";
import { chosen, ofThisRun, on, position, put, store } from "./store.js";

const SLOTS = ["A", "B", "C", "D"];
let cards = [];
let block = null;
let visible = false;
let stale = true;

export function startRecombine(view) {
  on("run", () => {
    block = store.meta.changed_block;
    store.slots = Object.fromEntries(SLOTS.map((slot, k) => [slot, store.meta.starts[k % store.meta.starts.length]]));
    build(view);
  });
  on("slots", refresh);
  on("theme", refresh);
  on("view", (name) => {
    visible = name === "recombine";
    if (visible && stale) refresh();
  });
}

function build(view) {
  const several = store.meta.changed_block !== null;
  const current = () => ({ block, slots: store.slots });
  cards = [slots(), ...(several ? [swap(current), grid(current)] : []), between(current), latents(current), draws(current)];
  const blocks = store.meta.choices;
  const chooser = several
    ? labelled("Block that changes", select(blocks.map((name) => ({ value: name, text: name })), block, (name) => {
      block = name;
      refresh();
    }))
    : h("p", { class: "faint" }, `This method has a single block, ${blocks[0]}: there is nothing to swap, but its latents can be changed.`);
  view.replaceChildren(
    h("div", { class: "toolbar" }, h("h1", {}, "Recombine"), chooser, several ? why("block", "a block") : null),
    h("div", { class: "cards" }, cards.map((card) => card.element)));
  refresh();
}

// Only what is seen is decoded.
function refresh() {
  stale = !visible;
  if (visible && store.meta) for (const card of cards) card.refresh();
}

function slots() {
  const { here, alive } = ofThisRun();
  const tiles = Object.fromEntries(SLOTS.map((slot) => [slot, tile("", { about: `Sample ${slot}` })]));
  const inputs = Object.fromEntries(SLOTS.map((slot) => [slot, sampleField(store.slots[slot], (sample) => put(slot, sample))]));
  const drawAll = (samples) => SLOTS.forEach((slot) => (store.slots = { ...store.slots, [slot]: samples[Math.floor(Math.random() * samples.length)] }));
  const everything = () => Array.from({ length: store.meta.n }, (_, i) => i);
  const element = h("section", { class: "card wide", "aria-labelledby": "slots-title" },
    h("div", { class: "head" }, h("h2", { id: "slots-title" }, "Samples"), h("div", { class: "buttons" },
      button("Random ones", () => (drawAll(everything()), put("A", store.slots.A)), { class: "quiet" }),
      button("From the selection", () => {
        if (!store.selectedCount) return complain(new Error("Nothing is selected; drag around some points of the map first."));
        drawAll(chosen());
        return put("A", store.slots.A);
      }, { class: "quiet" }))),
    h("div", { class: "slot-row" }, SLOTS.map((slot) => h("div", { class: "slot" }, tiles[slot].element, labelled(slot, inputs[slot])))));
  const load = api.latest(async () => {
    const wanted = SLOTS.map((slot) => store.slots[slot]);
    const { originals } = await api.packed(here("originals"), { samples: wanted.join(",") });
    if (!alive()) return;
    SLOTS.forEach((slot, k) => tiles[slot].show(at(originals, k)));
    element.dataset.made = wanted.join(" ");
  }, complain, alive);
  return {
    element,
    refresh() {
      for (const slot of SLOTS) inputs[slot].value = position(store.slots[slot]);
      load();
    },
  };
}
