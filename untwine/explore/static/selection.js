// The samples that are selected: how many, out as CSV, saved under a name, or one that was saved before.

import * as api from "./api.js";
import { button, complain, count, h, labelled, redraw, say, select } from "./dom.js";
import { fileName, here, choose, chosen, look, on, store } from "./store.js";

let bar;
let parts; // of the bar, which stay as they are: a name that is being typed outlives a change of the selection
let saved = { selections: [], others: 0 };

export function selectionBar() {
  parts = {
    count: h("p", { class: "count" }),
    actions: h("div", { class: "actions" },
      button("Clear", () => {
        choose([]);
        say("Nothing selected.");
        bar.focus();
      }, { class: "quiet" }),
      button("Show one", () => {
        const all = chosen();
        look(all[Math.floor(Math.random() * all.length)]);
      }, { class: "quiet", title: "A random one of the selected samples" }),
      button("CSV", () => csv().catch(complain), { class: "quiet", "aria-label": "Download the selected samples as CSV" }),
      saver()),
    saved: h("div", { class: "actions" }),
  };
  bar = h("section", { class: "selection", "aria-label": "Selection", tabindex: "-1" }, parts.count, parts.actions, parts.saved);
  saved = { selections: [], others: 0 };
  draw();
  refresh();
  return bar;
}

on("selection", draw);

async function refresh() {
  const run = store.run;
  try {
    const answer = await api.json(here("selections"));
    if (run === store.run) saved = answer;
  } catch (error) {
    complain(error);
  }
  drawSaved();
}

function draw() {
  if (!bar || !store.meta) return;
  const any = store.selectedCount > 0;
  parts.count.replaceChildren(...(any ? [h("strong", {}, store.selectedCount.toLocaleString("en")), ` of ${count(store.meta.n, "sample")} selected`]
    : ["Nothing selected: drag around points, or press an entry of the legend."]));
  parts.actions.hidden = !any;
  const chooser = parts.saved.querySelector("select");
  if (chooser && chooser !== document.activeElement) chooser.value = ""; // the same one may be chosen again
}

function drawSaved() {
  const children = [];
  if (saved.selections.length) {
    const options = [{ value: "", text: "choose …" }, ...saved.selections.map((one) => ({ value: one.name, text: `${one.name} (${one.samples.length})` }))];
    const chooser = select(options, "", (name) => {
      const found = saved.selections.find((one) => one.name === name);
      if (found) choose(found.samples);
    });
    children.push(labelled("Saved selections", chooser));
  }
  if (saved.others) children.push(h("p", { class: "faint" }, `${count(saved.others, "saved selection")} of other samples not shown.`));
  redraw(parts.saved, ...children);
}

async function csv() {
  const response = await api.post(here("table"), { samples: chosen() });
  api.keep(await response.blob(), fileName("selection", "csv"));
}

function saver() {
  const name = h("input", { type: "text", maxlength: "80", required: true, autocomplete: "off", size: "16" });
  const form = h("form", {
    class: "saver",
    on: {
      submit: async (event) => {
        event.preventDefault();
        try {
          await api.post(here("selections"), { name: name.value.trim(), samples: chosen() });
          say(`Saved as ${name.value.trim()} into the run folder.`);
          name.value = "";
          await refresh();
        } catch (error) {
          complain(error);
        }
      },
    },
  }, labelled("Name", name), h("button", { type: "submit" }, "Save"));
  return form;
}
