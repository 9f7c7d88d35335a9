// What all views share: the run, the samples that are selected, the one that is looked at, the colours of the points.

const listeners = new Map();

export const store = {
  runs: [],
  damaged: [], // runs that cannot be read: { name, sentence }
  run: null, // number of the run
  meta: null, // what the server says of the open run
  sample: null, // position of the sample that is looked at
  selected: new Uint8Array(0),
  selectedCount: 0,
  plane: "pca",
  colour: null, // { key, text, values, levels, low, high, rgb, legend }
  slots: { A: 0, B: 1, C: 2, D: 3 }, // samples to recombine
};

export function on(event, listener) {
  if (!listeners.has(event)) listeners.set(event, []);
  listeners.get(event).push(listener);
}

export function emit(event, ...details) {
  for (const listener of listeners.get(event) ?? []) listener(...details);
}

export const here = (path) => `/api/runs/${store.run}/${path}`;

// For what may still wait for an answer when another run is opened: paths of this run, and whether it is still the one.
export function ofThisRun() {
  const { run } = store;
  return { here: (path) => `/api/runs/${run}/${path}`, alive: () => store.run === run };
}

export const runName = (number = store.run) => store.runs[number]?.name ?? "run";
export const fileName = (what, ending) => `${runName().replace(/[^\w.-]+/g, "-")}-${what}.${ending}`;
export const position = (sample) => sample * store.meta.step; // in the test split

// `aloud`: a screen reader says which sample it is.
export function look(sample, aloud = true) {
  if (sample === null || sample === store.sample) return;
  store.sample = sample;
  emit("sample", sample, aloud);
}

// mode: "replace", "add" or "remove"
export function choose(samples, mode = "replace") {
  const selected = mode === "replace" ? new Uint8Array(store.meta.n) : store.selected.slice();
  for (const sample of samples) selected[sample] = mode === "remove" ? 0 : 1;
  store.selected = selected;
  store.selectedCount = selected.reduce((sum, one) => sum + one, 0);
  emit("selection", selected);
}

export function chosen(most = Infinity) {
  const found = [];
  for (let i = 0; i < store.selected.length && found.length < most; i += 1) if (store.selected[i]) found.push(i);
  return found;
}

export function put(slot, sample) {
  store.slots = { ...store.slots, [slot]: sample };
  emit("slots", store.slots);
}
