// Starts the page: the runs, the views, and which of them is shown.

import * as api from "./api.js";
import { complain, h } from "./dom.js";
import { startMap } from "./mapview.js";
import { startRecombine } from "./recombine.js";
import { startRuns } from "./runsview.js";
import { startSample } from "./sampleview.js";
import { emit, look, store } from "./store.js";
import { startTheme } from "./theme.js";
import { startWords } from "./words.js";

const VIEWS = ["map", "recombine", "runs", "words"];
const OF_ONE_RUN = new Set(["map", "recombine"]);
let opening = 0; // the run that is being opened
const by = (id) => document.getElementById(id);

function route() {
  const [name, ...rest] = location.hash.slice(1).split("/");
  const view = VIEWS.includes(name) ? name : "map";
  const waiting = OF_ONE_RUN.has(view) && opening !== null;
  by("opening").hidden = !waiting;
  for (const one of VIEWS) {
    by(`view-${one}`).hidden = one !== view || waiting;
    const link = document.querySelector(`#views a[href="#${one}"]`);
    if (one === view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  emit("view", view);
  if (view === "words") emit("word", decodeURIComponent(rest.join("/")));
}

async function openRun(number) {
  opening = number;
  by("note").hidden = true;
  by("opening-title").textContent = "Opening the run";
  by("opening-text").textContent = `${store.runs[number].name}: reading the method and the data.`;
  by("opening-progress").hidden = false;
  by("opening-progress").removeAttribute("value");
  route();
  for (;;) {
    let status;
    try {
      status = await api.json(`/api/runs/${number}`);
    } catch (error) {
      status = { state: "failed", sentence: error.message };
    }
    if (opening !== number) return; // another run was chosen meanwhile
    if (status.state === "failed") {
      fail(status.sentence);
      return;
    }
    if (status.state === "ready") {
      start(number, status);
      return;
    }
    if (status.total) {
      by("opening-text").textContent = `${store.runs[number].name}: encoded ${status.done.toLocaleString("en")} of ${status.total.toLocaleString("en")} samples.`;
      by("opening-progress").max = status.total;
      by("opening-progress").value = status.done;
    }
    await new Promise((done) => setTimeout(done, 120));
  }
}

// The run and all that is known of it change at once, so that no view ever sees one without the other.
function start(number, meta) {
  opening = null;
  store.run = number;
  store.meta = meta;
  store.sample = null;
  store.colour = null;
  store.selected = new Uint8Array(meta.n);
  store.selectedCount = 0;
  by("note").hidden = !meta.note;
  by("note").textContent = meta.note;
  document.body.dataset.run = number;
  emit("run");
  route();
  look(meta.starts[0], false); // what a person does meanwhile is said instead
}

function fail(sentence) {
  by("opening-title").textContent = "This run cannot be opened";
  by("opening-text").textContent = sentence;
  by("opening-progress").hidden = true;
}

async function main() {
  startTheme(by("theme"));
  store.plane = "tsne";
  startMap(by("view-map"), startSample());
  startRecombine(by("view-recombine"));
  startRuns(by("view-runs"));
  startWords(by("view-words"));
  by("skip").addEventListener("click", (event) => {
    event.preventDefault(); // the hash is the view's
    by("content").focus();
  });
  addEventListener("hashchange", route);
  ({ runs: store.runs, damaged: store.damaged } = await api.json("/api/runs"));
  const chooser = by("run");
  chooser.replaceChildren(...store.runs.map((run) => h("option", { value: run.number }, `${run.name} (${run.method} on ${run.data})`)));
  chooser.addEventListener("change", () => openRun(Number(chooser.value)).catch(complain));
  await openRun(0);
}

main().catch((error) => {
  fail(error.message);
  complain(error);
});
