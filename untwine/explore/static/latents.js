// Single latents: a slider for each, and what is decoded while it moves.

import * as api from "./api.js";
import { offers } from "./downloads.js";
import { button, complain, count, h, number, redraw, why } from "./dom.js";
import { featureBars, tile } from "./show.js";
import { ofThisRun, position, store } from "./store.js";

const FIRST = 8; // sliders that are shown at once

export function latents(current) {
  const { here, alive } = ofThisRun();
  let edits = new Map(); // "block:latent" -> value
  let effects = null;
  let all = false;
  let about = "";
  const before = tile("A reconstructed");
  const after = tile("Changed", { about: "A with changed latents" });
  const bars = h("div", {});
  const list = h("div", { class: "sliders" });
  const words = h("p", { class: "faint" });
  const block = () => current().block ?? Object.keys(store.meta.blocks)[0];
  const text = () => [...edits].map(([key, value]) => `${key}:${value}`).join(",");
  const fields = () => ({ sample: current().slots.A, edits: text() });
  const reset = button("Reset", () => {
    edits = new Map();
    list.replaceChildren(...sliders());
    load();
  }, { class: "quiet" });
  const element = h("section", { class: "card wide", "aria-labelledby": "latents-title" },
    h("div", { class: "head" }, h("h2", { id: "latents-title" }, "Single latents", why("latent", "a latent")), reset),
    h("div", { class: "latents" }, h("div", { class: "tiles" }, before.element, after.element), h("div", {}, list, words)), bars,
    offers("change", fields, () => `changed-${position(current().slots.A)}`));
  let first = null; // what is decoded without changes: { sample, changed }
  const load = api.latest(async () => {
    const asked = fields();
    if (first?.sample !== asked.sample) first = { sample: asked.sample, changed: (await api.packed(here("change"), { sample: asked.sample })).changed };
    const { changed } = asked.edits ? await api.packed(here("change"), asked) : first;
    if (!alive()) return;
    before.show(first.changed);
    after.show(changed);
    element.dataset.made = `${asked.sample} ${asked.edits}`;
    if (!store.meta.image) bars.replaceChildren(...(asked.edits ? [h("h3", {}, "What changes most"), featureBars(first.changed, changed, 1e-6, 8).element] : []));
  }, complain, alive);
  const ask = api.latest(async () => {
    const asked = { sample: fields().sample, block: block() };
    const found = await api.json(here("effects"), asked);
    if (!alive() || about !== `${asked.sample} ${asked.block}`) return;
    effects = found;
    list.inert = false;
    redraw(list, ...sliders());
    list.dataset.of = about;
  }, complain, alive);

  function sliders() {
    if (!effects) return [];
    const ranked = effects.change.map((change, k) => [change, k]).sort((a, b) => b[0] - a[0]);
    const most = Math.max(1e-12, ranked[0][0]);
    const dead = ranked.filter(([change]) => change < 0.02 * most).length;
    words.textContent = `The latents of the ${effects.block} block, those with the largest effect on A first`
      + (dead ? `; ${count(dead, "latent")} of ${ranked.length} ${dead === 1 ? "has" : "have"} next to none.` : ".");
    const shown = ranked.slice(0, all ? ranked.length : FIRST).map(([change, k]) => slider(k, change / most));
    if (ranked.length > FIRST) {
      shown.push(button(all ? "Show fewer" : `Show all ${ranked.length}`, () => {
        all = !all;
        redraw(list, ...sliders());
      }, { class: "quiet", "data-key": "more" }));
    }
    return shown;
  }

  function slider(k, share) {
    const key = `${effects.block}:${k}`;
    const [low, high] = [Math.min(effects.low[k], effects.code[k]), Math.max(effects.high[k], effects.code[k])];
    const step = (high - low) / 200 || 0.01;
    const value = edits.get(key) ?? effects.code[k];
    const input = h("input", { type: "range", min: String(low), max: String(high), step: "any", id: `latent-${k}` });
    input.value = String(value);
    const output = h("output", { for: `latent-${k}` }, number(value, 2));
    input.addEventListener("input", () => {
      const chosen = Number(Number(input.value).toFixed(6));
      edits.set(key, chosen);
      output.textContent = number(chosen, 2);
      load();
    });
    input.addEventListener("keydown", (event) => { // "any" has no step for the keys
      const sign = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageUp: 10, PageDown: -10 }[event.key];
      if (!sign) return;
      input.value = String(Number(input.value) + 4 * sign * step);
      input.dispatchEvent(new Event("input"));
      event.preventDefault();
    });
    return h("div", { class: "latent" }, h("label", { for: `latent-${k}` }, `${effects.block} ${k}`),
      h("i", { class: "effect", title: `Effect on A: ${number(100 * share, 0)} % of the largest` }, h("b", { style: { width: `${100 * share}%` } })),
      input, output);
  }

  return {
    element,
    refresh() {
      const now = `${current().slots.A} ${block()}`;
      if (now !== about) {
        edits = new Map();
        about = now;
        list.inert = true; // the sliders are those of another sample or block
        ask();
      }
      load();
    },
  };
}
