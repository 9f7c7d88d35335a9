// A field for the number of a sample, as it is in the test split.

import { complain, h } from "./dom.js";
import { position, store } from "./store.js";

export function sampleField(sample, take) {
  const { n, step } = store.meta;
  const input = h("input", { type: "number", min: "0", max: String(position(n - 1)), step: String(step), value: String(position(sample)) });
  input.addEventListener("change", () => {
    const wanted = Math.round(Number(input.value) / step);
    if (input.value !== "" && wanted >= 0 && wanted < n) {
      input.value = String(position(wanted));
      take(wanted);
    } else complain(new Error(`Samples have numbers from 0 to ${position(n - 1)}${step > 1 ? ` in steps of ${step}` : ""}; choose one of them.`));
  });
  return input;
}
