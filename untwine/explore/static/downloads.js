// What was made, out of the page: as an image, as arrays, and as the lines of Python that make the same.

import * as api from "./api.js";
import { button, complain, h, say } from "./dom.js";
import { fileName, here, store } from "./store.js";

// `fields` may be a function, for what changes while it is looked at.
export function offers(recipe, fields, name) {
  const now = () => (typeof fields === "function" ? fields() : fields);
  const title = () => (typeof name === "function" ? name() : name);
  const file = (kind, ending) => api.download(here(recipe), { ...now(), as: kind }, fileName(title(), ending)).catch(complain);
  return h("div", { class: "offers", role: "group", "aria-label": "Download" },
    store.meta.image ? button("Image", () => file("png", "png"), { class: "quiet small", "aria-label": "Download the image" }) : null,
    button("Arrays", () => file("npz", "npz"), { class: "quiet small", "aria-label": "Download the arrays as .npz" }),
    button("Python", () => show(recipe, now()).catch(complain), { class: "quiet small", "aria-label": "Show the lines of Python that make this" }));
}

async function show(recipe, fields) {
  const lines = await api.text(here(recipe), { ...fields, as: "python" });
  const code = h("pre", { tabindex: "0" }, h("code", {}, lines));
  const dialog = h("dialog", { class: "card", "aria-labelledby": "python-title" },
    h("div", { class: "head" }, h("h2", { id: "python-title" }, "The same in Python"), button("Close", () => dialog.close(), { class: "quiet" })),
    code,
    button("Copy", async (event) => {
      try {
        await navigator.clipboard.writeText(lines);
        event.target.textContent = "Copied";
        say("Copied.");
      } catch {
        getSelection().selectAllChildren(code);
      }
    }));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
