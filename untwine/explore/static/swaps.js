// Swaps of two samples, grids of several, and newly drawn codes.

import * as api from "./api.js";
import { offers } from "./downloads.js";
import { button, choices, complain, h, labelled, why } from "./dom.js";
import { at, featureBars, tile } from "./show.js";
import { chosen, ofThisRun, position, store } from "./store.js";

export function swap(current) {
  const { here, alive } = ofThisRun();
  const tiles = { a: tile("A"), b: tile("B"), a_with_b: tile("A with B"), b_with_a: tile("B with A") };
  const bars = h("div", {});
  let plain = null; // of vectors, A as it is decoded without a swap: { sample, changed }
  const fields = () => ({ a: current().slots.A, b: current().slots.B, block: current().block });
  const element = h("section", { class: "card", "aria-labelledby": "swap-title" },
    h("h2", { id: "swap-title" }, "Swap", why("swap", "a swap")),
    h("div", { class: "tiles two" }, Object.values(tiles).map((one) => one.element)), bars,
    offers("swap", fields, () => `swap-${position(current().slots.A)}-${position(current().slots.B)}`));
  const load = api.latest(async () => {
    const asked = fields();
    const made = await api.packed(here("swap"), asked);
    // What the swap changes, and not what the reconstruction lacks.
    if (!store.meta.image && plain?.sample !== asked.a) plain = { sample: asked.a, changed: (await api.packed(here("change"), { sample: asked.a })).changed };
    if (!alive()) return;
    const { block } = asked;
    tiles.a.show(made.a);
    tiles.b.show(made.b);
    tiles.a_with_b.show(made.a_with_b, `A with B's ${block}`);
    tiles.b_with_a.show(made.b_with_a, `B with A's ${block}`);
    tiles.a_with_b.canvas.setAttribute("aria-label", `A with the ${block} block of B`);
    tiles.b_with_a.canvas.setAttribute("aria-label", `B with the ${block} block of A`);
    if (!store.meta.image) bars.replaceChildren(h("h3", {}, `Reconstruction of A: what changes most with B's ${block}`), featureBars(plain.changed, made.a_with_b, 0, 8).element);
    element.dataset.made = `${asked.a} ${asked.b} ${block}`;
  }, complain, alive);
  return { element, refresh: () => load() };
}

export function grid(current) {
  const { here, alive } = ofThisRun();
  let size = 4;
  let source = "slots";
  let seed = 1;
  const table = h("table", { class: "grid" });
  const input = h("input", { type: "range", min: "2", max: "8", value: String(size), on: { input: () => ((size = Number(input.value)), load()) } });
  const again = button("Other samples", () => ((seed += 1), load()), { class: "quiet" });
  const fields = () => {
    const { slots, block } = current();
    const pool = source === "selection" && store.selectedCount ? chosen() : null;
    const pick = (k) => (pool ? pool[(k * 7919 + seed * 104729) % pool.length] : ((k * 7919 + seed * 104729) % store.meta.n));
    const own = source === "slots" && seed === 1 ? [slots.A, slots.B, slots.C, slots.D] : [];
    const rows = Array.from({ length: size }, (_, k) => own[k] ?? pick(k));
    const columns = Array.from({ length: size }, (_, k) => own[k] ?? pick(k + (source === "slots" ? 0 : size)));
    return { rows: rows.join(","), columns: columns.join(","), block };
  };
  const element = h("section", { class: "card tall", "aria-labelledby": "grid-title" },
    h("h2", { id: "grid-title" }, "Grid", why("swap", "a swap")),
    h("div", { class: "options" }, labelled("Size", input), choices("Samples", [
      { value: "slots", text: "A to D", title: "These and more" }, { value: "selection", text: "Selection" }, { value: "random", text: "Random" },
    ], source, (one) => ((source = one), (seed = 1), load())), again),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Grid of swaps" }, table), offers("grid", fields, "grid"));
  const load = api.latest(async () => {
    const asked = fields();
    const made = await api.packed(here("grid"), asked);
    if (!alive()) return;
    const { block } = asked;
    const [rows, columns] = [asked.rows.split(","), asked.columns.split(",")];
    const cell = (array, about) => {
      const one = tile("", { about, small: true });
      one.show(array);
      return one.element;
    };
    const head = h("tr", {}, h("td", {}, h("small", { class: "faint" }, `${block} from →`)),
      columns.map((j, k) => h("th", { scope: "col" }, cell(at(made.columns, k), `Sample ${position(Number(j))}`))));
    const lines = rows.map((i, r) => h("tr", {}, h("th", { scope: "row" }, cell(at(made.rows, r), `Sample ${position(Number(i))}`)),
      columns.map((j, c) => h("td", {}, cell(at(made.grid, r, c), `Sample ${position(Number(i))} with the ${block} block of sample ${position(Number(j))}`)))));
    table.replaceChildren(h("thead", {}, head), h("tbody", {}, lines));
    element.dataset.made = `${asked.rows} ${asked.columns} ${block}`;
  }, complain, alive);
  return { element, refresh: () => load() };
}

export function draws(current) {
  const { here, alive } = ofThisRun();
  let source = "prior";
  let seed = 0;
  const row = h("div", { class: "thumbs large" });
  const fields = () => ({ sample: current().slots.A, block: current().block ?? undefined, n: 8, source, seed });
  const element = h("section", { class: "card wide", "aria-labelledby": "draws-title" },
    h("h2", { id: "draws-title" }, "New codes", why("prior", "the prior")),
    h("div", { class: "options" }, choices("Drawn from", [
      { value: "prior", text: "the prior", title: "As the method assumes codes to be distributed" },
      { value: "data", text: "near the data", title: "Near codes of real samples" },
    ], source, (one) => ((source = one), load())), button("Draw again", () => ((seed += 1), load()), { class: "quiet" })),
    row, offers("draw", fields, () => `draws-${seed}`));
  const load = api.latest(async () => {
    const asked = fields();
    const made = await api.packed(here("draw"), asked);
    if (!alive()) return;
    const block = asked.block ?? Object.keys(store.meta.blocks)[0];
    const original = tile("A");
    original.show(made.original);
    row.replaceChildren(original.element, ...Array.from({ length: made.drawn.shape[0] }, (_, k) => {
      const one = tile(String(k + 1), { about: `A with new ${block} codes, draw ${k + 1}` });
      one.show(at(made.drawn, k));
      return one.element;
    }));
    element.dataset.made = `${asked.sample} ${block} ${asked.source} ${asked.seed}`;
  }, complain, alive);
  return { element, refresh: () => load() };
}
