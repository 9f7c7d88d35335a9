// Between four samples: a point in a square whose corners are their codes.

import * as api from "./api.js";
import { offers } from "./downloads.js";
import { choices, complain, h, number, why } from "./dom.js";
import { at, tile } from "./show.js";
import { ofThisRun, store } from "./store.js";

export function between(current) {
  const { here, alive } = ofThisRun();
  let place = { right: 0.5, down: 0.5 };
  let moves = store.meta.changed_block ? "block" : "all";
  const result = tile("Between", { about: "Decoded between the four samples" });
  const corners = ["A", "B", "C", "D"].map((slot) => tile(slot, { about: `Corner ${slot}`, small: true }));
  const point = h("div", {
    class: "point", tabindex: "0", role: "slider", "aria-label": "Point between A, B, C and D; arrow keys move it",
    "aria-valuemin": "0", "aria-valuemax": "1",
  });
  const pad = h("div", { class: "pad" }, point);
  const words = h("p", { class: "faint weights" });
  const fields = () => {
    const { slots, block } = current();
    return {
      corners: [slots.A, slots.B, slots.C, slots.D].join(","), right: place.right.toFixed(3), down: place.down.toFixed(3),
      block: moves === "all" ? "all" : block,
    };
  };
  const element = h("section", { class: "card", "aria-labelledby": "between-title" },
    h("h2", { id: "between-title" }, "Between four", why("between", "an interpolation")),
    store.meta.changed_block ? h("div", { class: "options" }, choices("What is mixed", [
      { value: "block", text: "the block", title: "All other blocks stay those of A" }, { value: "all", text: "all blocks" },
    ], moves, (one) => ((moves = one), move()))) : null,
    h("div", { class: "between" }, h("div", { class: "square" }, corners.map((one) => one.element), pad), result.element), words,
    offers("between", fields, "between"));
  const load = api.latest(async () => {
    const asked = fields();
    const made = await api.packed(here("between"), asked);
    if (!alive()) return;
    result.show(made.between);
    element.dataset.made = `${asked.corners} ${asked.right} ${asked.down} ${asked.block}`;
  }, complain, alive);
  const loadCorners = api.latest(async () => {
    const { slots } = current();
    const { originals } = await api.packed(here("originals"), { samples: [slots.A, slots.B, slots.C, slots.D].join(",") });
    if (!alive()) return;
    corners.forEach((corner, k) => corner.show(at(originals, k)));
  }, complain, alive);

  function move() {
    const { right, down } = place;
    point.style.left = `${100 * right}%`;
    point.style.top = `${100 * down}%`;
    const weights = [(1 - down) * (1 - right), (1 - down) * right, down * (1 - right), down * right];
    const text = ["A", "B", "C", "D"].map((slot, k) => `${slot} ${number(100 * weights[k], 0)} %`).join(", ");
    words.textContent = text;
    point.setAttribute("aria-valuenow", right.toFixed(2));
    point.setAttribute("aria-valuetext", text);
    load();
  }

  const within = (value) => Math.min(1, Math.max(0, value));
  const drag = (event) => {
    const box = pad.getBoundingClientRect();
    place = { right: within((event.clientX - box.left) / box.width), down: within((event.clientY - box.top) / box.height) };
    move();
  };
  pad.addEventListener("pointerdown", (event) => {
    pad.setPointerCapture(event.pointerId);
    drag(event);
    point.focus();
    event.preventDefault();
  });
  pad.addEventListener("pointermove", (event) => pad.hasPointerCapture(event.pointerId) && drag(event));
  point.addEventListener("keydown", (event) => {
    const step = event.shiftKey ? 0.2 : 0.05;
    const moved = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] }[event.key];
    if (!moved) return;
    place = { right: within(place.right + moved[0]), down: within(place.down + moved[1]) };
    move();
    event.preventDefault();
  });
  return {
    element,
    refresh() {
      loadCorners();
      move();
    },
  };
}
