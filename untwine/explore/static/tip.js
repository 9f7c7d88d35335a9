// What floats beside the pointer: the sample under it. Images that were shown before are kept.

import * as api from "./api.js";
import { h } from "./dom.js";
import { at, paint } from "./show.js";
import { ofThisRun, store } from "./store.js";

const KEPT = 2000;

export class Tip {
  constructor(describe) {
    document.getElementById("tip")?.remove();
    this.describe = describe;
    this.known = new Map();
    this.canvas = h("canvas", { class: "sample" });
    this.text = h("div", {});
    this.element = h("div", { id: "tip", "aria-hidden": "true", hidden: true }, this.canvas, this.text);
    const { here, alive } = ofThisRun();
    this.fetch = api.latest(async (i) => {
      const { originals } = await api.packed(here("originals"), { samples: i });
      if (!alive()) return;
      if (this.known.size >= KEPT) this.known.delete(this.known.keys().next().value);
      this.known.set(i, at(originals, 0));
      if (this.sample === i) this.paint(i);
    }, () => {}, alive);
  }

  show(i, x, y) {
    if (i === null || x === undefined) {
      this.sample = null;
      this.element.hidden = true;
      return;
    }
    if (i !== this.sample) {
      this.sample = i;
      this.text.replaceChildren(...this.describe(i).map((line) => h("p", {}, line)));
      if (this.known.has(i)) this.paint(i);
      else {
        this.element.dataset.sample = "";
        this.fetch(i);
      }
    }
    this.element.hidden = false;
    const { offsetWidth: width, offsetHeight: height } = this.element;
    const left = x + 18 + width > innerWidth ? x - 18 - width : x + 18;
    this.element.style.left = `${Math.max(4, left)}px`;
    this.element.style.top = `${Math.max(4, Math.min(innerHeight - height - 4, y + 14))}px`;
  }

  paint(i) {
    paint(this.canvas, this.known.get(i));
    this.canvas.classList.toggle("vector", !store.meta.image);
    this.element.dataset.sample = i;
  }
}
