// Runs side by side: scores, training curves, and one sample through several models.

import * as api from "./api.js";
import { drawCurves } from "./curves.js";
import { button, complain, h, labelled, number, redraw, select, why } from "./dom.js";
import { sampleField } from "./samplefield.js";
import { tile } from "./show.js";
import { look, on, position, store } from "./store.js";

const FIRST = 6; // runs that are shown at first
const DIRECTIONS = { higher: ["↑", "higher is better"], lower: ["↓", "lower is better"], info: ["", "for comparison"] };

let shown = new Set();
let touched = false; // until a person chooses runs, they are those on the data of the open run
let content = null; // of /api/scores
let order = { by: "given", up: true }; // as they were measured, until a column is pressed
let filter = "";
let view;
let parts = null; // of the view, which are built once, so that nobody's typing is cut off

export function startRuns(element) {
  view = element;
  on("view", (name) => name === "runs" && open());
  on("run", () => !view.hidden && open());
  on("theme", () => parts && curves());
  on("sample", () => parts && !view.hidden && through().catch(complain));
}

const open = api.latest(async () => {
  if (!store.runs.length) return; // they are not known yet
  parts ??= build();
  if (!touched) {
    shown = new Set(atFirst().map((run) => run.number));
    for (const [number, box] of parts.boxes) box.checked = shown.has(number);
  }
  content = await api.json("/api/scores");
  drawAll();
}, complain);

function build() {
  const boxes = new Map(store.runs.map((run) => [run.number, h("input", { type: "checkbox", id: `show-${run.number}`, on: { change: (event) => {
    touched = true;
    if (event.target.checked) shown.add(run.number);
    else shown.delete(run.number);
    if (content) drawAll();
  } } })]));
  const chooser = h("fieldset", { class: "runs" }, h("legend", {}, "Runs that are shown"), store.runs.map((run) =>
    h("span", { class: "check" }, boxes.get(run.number), h("label", { for: `show-${run.number}` }, run.name, h("small", {}, ` ${run.method}, ${run.data}`)))));
  const search = h("input", { type: "search", placeholder: "such as probe or salient", on: { input: () => ((filter = search.value), content && scores()) } });
  const problems = h("div", {});
  const table = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Scores" });
  const training = h("section", { class: "card" });
  const one = { card: h("section", { class: "card" }), field: h("div", {}), about: h("p", { class: "empty" }), models: h("div", { class: "models" }), go: null };
  one.card.append(h("div", { class: "head" }, h("h2", {}, "One sample through several models"), one.field), one.about, one.models);
  view.replaceChildren(h("div", { class: "toolbar" }, h("h1", {}, "Runs side by side")), store.runs.length > 1 ? chooser : "",
    h("section", { class: "card" }, h("div", { class: "head" }, h("h2", {}, "Scores"), labelled("Filter", search)),
      h("p", { class: "faint" }, "Below each score is its 95 % interval.", why("interval", "the interval")), problems, table), training, one.card);
  return { boxes, problems, table, training, one };
}

// Those on the data of the run that is open, which can be compared with it; where there are none, the first.
function atFirst() {
  const same = store.runs.filter((run) => run.data_number === current().data_number);
  return (same.length > 1 ? same : store.runs).slice(0, FIRST);
}

function drawAll() {
  scores();
  curves();
  through().catch(complain);
}

const current = () => store.runs[store.run ?? 0];
const visible = () => store.runs.filter((run) => shown.has(run.number));

// Scores

function scores() {
  const runs = visible().filter((run) => content.scores[run.number]);
  const problems = Object.entries(content.problems).filter(([run]) => shown.has(Number(run))).map(([run, text]) => [store.runs[run].name, text]);
  parts.problems.replaceChildren(...[...store.damaged.map(({ name, sentence }) => [name, sentence]), ...problems]
    .map(([name, text]) => h("p", { class: "problem" }, `${name}: ${text}`)));
  const names = Object.keys(content.meanings).filter((name) => runs.some((run) => content.scores[run.number][name]))
    .filter((name) => `${name} ${content.meanings[name].words}`.toLowerCase().includes(filter.trim().toLowerCase()));
  if (!names.length) {
    parts.table.replaceChildren(h("p", { class: "empty" }, filter ? "No score has these words in its name or meaning." : "None of these runs has scores yet: run untwine evaluate on one of them."));
    return;
  }
  names.sort(compare);
  const header = (text, by, about) => h("th", { scope: "col", "aria-sort": order.by === by ? (order.up ? "ascending" : "descending") : "none" },
    button([text, h("span", { "aria-hidden": "true" }, order.by === by ? (order.up ? " ▲" : " ▼") : "")], () => {
      order = { by, up: order.by === by ? !order.up : true };
      scores();
    }, { class: "bare sort", title: about, "data-key": String(by) }));
  const head = h("thead", {}, h("tr", {}, header("Score", "score", "Sort by name"), header("Block", "block", "Sort by block"), h("th", { scope: "col" }, "Better"),
    runs.map((run) => header(run.name, run.number, `Sort by the scores of ${run.name} (${run.method})`))));
  const grouped = order.by === "score" || order.by === "given";
  const body = names.flatMap((name, k) => {
    const { metric, words } = content.meanings[name];
    const fresh = grouped && (k === 0 || content.meanings[names[k - 1]].metric !== metric);
    const group = h("tr", { class: "group" }, h("th", { scope: "rowgroup", colspan: String(runs.length + 3) },
      h("b", {}, metric), why(`score-${metric}`, metric), h("span", { class: "words" }, words)));
    return [...(fresh ? [group] : []), line(name, runs, grouped)];
  });
  redraw(parts.table, h("table", { class: grouped ? "scores" : "scores flat" }, head, h("tbody", {}, body)));
}

function compare(a, b) {
  const sign = order.up ? 1 : -1;
  if (order.by === "given") {
    const metrics = [...new Set(Object.values(content.meanings).map((one) => one.metric))];
    return metrics.indexOf(content.meanings[a].metric) - metrics.indexOf(content.meanings[b].metric);
  }
  const text = (key) => sign * content.meanings[a][key].localeCompare(content.meanings[b][key]);
  if (order.by === "score") return text("metric") || content.meanings[a].block.localeCompare(content.meanings[b].block);
  if (order.by === "block") return text("block") || content.meanings[a].metric.localeCompare(content.meanings[b].metric);
  const value = (name) => content.scores[order.by]?.[name]?.value ?? null;
  const [x, y] = [value(a), value(b)];
  if (x === null || y === null) return (x === null) - (y === null); // what is missing comes last either way
  return sign * (x - y);
}

function line(name, runs, grouped) {
  const { metric, block, words } = content.meanings[name];
  const all = runs.map((run) => content.scores[run.number][name]);
  const direction = all.find(Boolean)?.direction ?? "info";
  const [arrow, meaning] = DIRECTIONS[direction] ?? DIRECTIONS.info;
  // Only scores of one version, of the same samples and in one direction can be compared.
  const same = new Set(all.filter(Boolean).map((score) => `${score.version} ${score.samples} ${score.direction}`)).size === 1;
  const values = all.filter((score) => score && score.value !== null).map((score) => score.value);
  const best = same && values.length > 1 && direction !== "info" ? (direction === "higher" ? Math.max(...values) : Math.min(...values)) : null;
  const head = grouped
    ? h("th", { scope: "row", class: "thin" }, h("span", { class: "hidden" }, metric))
    : h("th", { scope: "row" }, h("b", {}, metric), why(`score-${metric}`, metric), h("span", { class: "words" }, first(words)));
  return h("tr", {}, head, h("td", {}, block), h("td", { class: "better" }, arrow || h("b", { "aria-hidden": "true" }, "·"), h("span", {}, ` ${meaning}`)),
    all.map((score) => (score
      ? h("td", { class: score.value !== null && score.value === best ? "value best" : "value", title: `${score.n.toLocaleString("en")} samples` },
        h("b", {}, number(score.value)), score.value !== null && score.value === best ? h("span", { class: "hidden" }, " (best)") : null,
        h("small", {}, score.low === null || score.high === null ? "" : `${number(score.low)} to ${number(score.high)}`))
      : h("td", { class: "faint" }, "–"))));
}

const first = (words) => words.split(/(?<=[.;:])\s/)[0];

// Training curves

const wanted = { term: null };

const curves = api.latest(async () => {
  const card = parts.training;
  const runs = visible();
  const all = await Promise.all(runs.map(async (run) => {
    try {
      return { run, curves: (await api.json(`/api/runs/${run.number}/curves`)).curves };
    } catch (error) {
      return { run, curves: [], problem: error.message };
    }
  }));
  const terms = [...new Set(all.flatMap((one) => one.curves.map((curve) => `${curve.stage} · ${curve.player} · ${curve.term}`)))];
  if (!terms.length) {
    card.replaceChildren(h("h2", {}, "Training"), h("p", { class: "empty" }, "None of these runs has a training history; a closed form has none."));
    return;
  }
  const own = all.find(({ run }) => run === current())?.curves.map((curve) => `${curve.stage} · ${curve.player} · ${curve.term}`) ?? [];
  if (!terms.includes(wanted.term)) wanted.term = [...own, ...terms].find((term) => term.includes("reconstruction")) ?? terms[0];
  const holder = h("div", { class: "curves" });
  const draw = () => {
    const lines = all.flatMap(({ run, curves: own }) => own.filter((curve) => `${curve.stage} · ${curve.player} · ${curve.term}` === wanted.term)
      .map((curve) => ({ name: run.name, colour: run.number, epochs: curve.epochs, values: curve.values })));
    drawCurves(holder, lines, wanted.term);
  };
  redraw(card, h("div", { class: "head" }, h("h2", {}, "Training", why("term", "a term of the objective")),
    labelled("Term", select(terms.map((term) => ({ value: term, text: term })), wanted.term, (term) => ((wanted.term = term), draw())))), holder);
  draw();
}, complain);

// One sample through several models

let turn = 0; // of samples that are asked for: answers to earlier ones are left

async function through() {
  const mine = (turn += 1);
  const { one } = parts;
  const same = store.meta ? visible().filter((run) => run.data_number === current().data_number) : [];
  const runs = same.length > 1 ? same.slice(0, FIRST) : []; // so many can be open at once
  delete one.card.dataset.sample;
  one.field.hidden = !runs.length;
  one.about.hidden = runs.length === same.length && runs.length > 0;
  one.about.textContent = runs.length ? `The first ${FIRST} of ${same.length} runs.` : "Runs on the same data show the same sample side by side; there is only one here.";
  if (!runs.length) {
    one.models.replaceChildren();
    return;
  }
  const { sample } = store;
  if (one.go?.max !== String(position(store.meta.n - 1))) {
    one.go = sampleField(sample, look);
    one.field.replaceChildren(labelled("Sample", one.go));
  }
  if (one.go !== document.activeElement) one.go.value = String(position(sample));
  const before = new Map([...one.models.children].map((element) => [element.dataset.run, element]));
  const models = runs.map((run) => before.get(String(run.number)) ?? h("section", { class: "model", "data-run": String(run.number) },
    h("h3", {}, run.name, h("small", {}, ` ${run.method}`)), h("p", { class: "faint" }, "Opening the run …")));
  one.models.replaceChildren(...models);
  await Promise.all(runs.map(async (run, k) => {
    const body = await model(run, position(sample), () => mine === turn);
    if (mine === turn) models[k].replaceChildren(models[k].firstChild, body);
  }));
  if (mine === turn) one.card.dataset.sample = sample;
}

// The sample of a position in the test split, as one run sees it.
async function model(run, place, alive) {
  try {
    const { step, of } = await opened(run, alive);
    if (of !== store.meta.of || place % step) return h("p", { class: "faint" }, `Sample ${place} is not among the samples of this run that are explored.`);
    const made = await api.packed(`/api/runs/${run.number}/sample`, { sample: place / step });
    const names = { original: "Original", reconstruction: "Reconstruction", counterpart: `Without ${made.block}` };
    return h("div", { class: "tiles" }, made.arrays.map(({ name }) => {
      const shown = tile(names[name], { about: `${names[name]}, ${run.name}` });
      shown.show(made[name]);
      return shown.element;
    }));
  } catch (error) {
    return h("p", { class: "problem" }, error.message);
  }
}

async function opened(run, alive) {
  for (;;) {
    const status = await api.json(`/api/runs/${run.number}`);
    if (status.state === "failed") throw new Error(status.sentence);
    if (status.state === "ready" || !alive()) return status;
    await new Promise((done) => setTimeout(done, 300));
  }
}
