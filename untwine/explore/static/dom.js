// Elements, built without markup in strings: whatever a run is named, it is only ever text.

export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") for (const [event, handler] of Object.entries(value)) element.addEventListener(event, handler);
    else if (name === "style") for (const [property, text] of Object.entries(value)) element.style.setProperty(property, text);
    else if (name === "value" || name === "checked" || name === "disabled") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

const nameOf = (element) => element.dataset.key ?? element.getAttribute("aria-label") ?? element.labels?.[0]?.textContent ?? element.textContent;

// Puts other children into a holder. If one of the old ones had the focus, the new one of the same name has it, or the heading.
export function redraw(holder, ...children) {
  const was = holder.contains(document.activeElement) && holder !== document.activeElement ? nameOf(document.activeElement) : null;
  holder.replaceChildren(...children.flat());
  if (was === null || holder.contains(document.activeElement)) return;
  const same = [...holder.querySelectorAll("button, input, select, a, [tabindex]")].find((one) => nameOf(one) === was);
  (same ?? holder.querySelector("h2[tabindex]"))?.focus({ preventScroll: true });
}

export const button = (text, click, props = {}) => h("button", { type: "button", ...props, on: { click } }, text);

let serial = 0;

// A control with its visible label.
export function labelled(text, control, props = {}) {
  control.id ||= `control-${(serial += 1)}`;
  return h("div", { class: "field", ...props }, h("label", { for: control.id }, text), control);
}

export function select(options, chosen, change, props = {}) {
  const element = h("select", { ...props, on: { change: () => change(element.value) } });
  for (const option of options) {
    if (option.group) element.append(h("optgroup", { label: option.group }, option.options.map(one)));
    else element.append(one(option));
  }
  element.value = chosen;
  return element;
  function one(option) {
    return h("option", { value: option.value }, option.text);
  }
}

// A few choices side by side: radio buttons that look like one control.
export function choices(legend, options, chosen, change) {
  const name = `choice-${(serial += 1)}`;
  return h("fieldset", { class: "choices" }, h("legend", { class: legend ? null : "hidden" }, legend || "Dragging"), h("div", {}, options.map((option) => {
    const input = h("input", {
      type: "radio", name, id: `${name}-${option.value}`, value: option.value, checked: option.value === chosen,
      on: { change: () => change(option.value) },
    });
    return [input, h("label", { for: input.id, title: option.title }, option.text)];
  })));
}

// A link to the words that explain a number.
export const why = (word, about) =>
  h("a", { class: "why", href: `#words/${word}`, "aria-label": `What is ${about}?`, title: `What is ${about}?` }, "?");

export function say(text) {
  document.getElementById("status").textContent = text;
}

let hiding = 0;

export function complain(error) {
  if (error?.name === "AbortError" || error?.stale) return;
  const toast = document.getElementById("toast");
  toast.textContent = error?.message ?? String(error);
  toast.hidden = false;
  clearTimeout(hiding);
  hiding = setTimeout(() => (toast.hidden = true), 9000);
}

export const number = (value, digits = 3) => {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size >= 1e6 || (digits > 2 && size !== 0 && size < 5e-4)) return value.toExponential(2).replace("-", "−");
  return value.toFixed(size >= 100 ? Math.min(1, digits) : digits).replace("-", "−");
};

export const count = (n, one, many = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
