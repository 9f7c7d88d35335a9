// Light or dark: as the system says, until the person chooses.

import { emit } from "./store.js";

const KEY = "untwine-theme";
const dark = matchMedia("(prefers-color-scheme: dark)");

function chosen() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null; // private windows may have no storage
  }
}

function apply(button) {
  const theme = chosen() ?? (dark.matches ? "dark" : "light");
  document.documentElement.dataset.theme = theme;
  button.textContent = theme === "dark" ? "Light" : "Dark";
  button.setAttribute("aria-label", theme === "dark" ? "Switch to the light page" : "Switch to the dark page");
  emit("theme", theme);
}

export function startTheme(button) {
  apply(button);
  dark.addEventListener("change", () => apply(button));
  button.addEventListener("click", () => {
    try {
      localStorage.setItem(KEY, document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    } catch {
      // the system's choice stays
    }
    apply(button);
  });
}
