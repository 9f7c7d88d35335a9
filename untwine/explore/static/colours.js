// Colours that are distinguishable with any common colour vision deficiency, for a light and a dark page.

const CLASSES = {
  light: ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#332288", "#999933", "#882255", "#6b4a2b"],
  dark: ["#56b4e9", "#e69f00", "#2fc493", "#ff8a57", "#e6a3cb", "#f0e442", "#a99bf5", "#c3c36a", "#e27aa6", "#cfa681"],
};
const OTHER = { light: "#a9b1b8", dark: "#6b747c" };
const SEQUENCE = ["#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"];
const SPAN = { light: [0, 0.9], dark: [0.14, 1] }; // the ends that would vanish on the page are left out

export const theme = () => document.documentElement.dataset.theme;

export function rgb(hex) {
  const value = parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

function ramp(t) {
  const [from, to] = SPAN[theme()];
  const place = (from + (to - from) * Math.min(1, Math.max(0, t))) * (SEQUENCE.length - 1);
  const step = Math.min(SEQUENCE.length - 2, Math.floor(place));
  const [a, b] = [rgb(SEQUENCE[step]), rgb(SEQUENCE[step + 1])];
  return a.map((one, k) => Math.round(one + (place - step) * (b[k] - one)));
}

export const curveColour = (k) => CLASSES[theme()][k % CLASSES.light.length];
export const css = ([r, g, b]) => `rgb(${r} ${g} ${b})`;

// Colours of all points and the legend: entries with samples for categories, a gradient for numbers.
export function colourPoints(values, levels, low, high) {
  const palette = CLASSES[theme()].map(rgb);
  const other = rgb(OTHER[theme()]);
  const points = new Uint8Array(3 * values.length);
  if (!levels.length) {
    const scale = high > low ? 1 / (high - low) : 0;
    values.forEach((value, i) => points.set(Number.isNaN(value) ? other : ramp((value - low) * scale), 3 * i));
    const stops = Array.from({ length: 9 }, (_, k) => css(ramp(k / 8)));
    return { points, legend: { gradient: `linear-gradient(to right, ${stops.join(", ")})`, low, high } };
  }
  const counts = new Uint32Array(levels.length);
  let unknown = 0;
  for (const value of values) if (Number.isNaN(value)) unknown += 1; else counts[value] += 1;
  // The most frequent levels have colours of their own; of equally frequent ones the first.
  const ranked = [...counts.keys()].filter((k) => counts[k]).sort((a, b) => counts[b] - counts[a] || a - b);
  const own = ranked.slice(0, palette.length).sort((a, b) => a - b);
  const colours = new Map(own.map((level, k) => [level, palette[k]]));
  values.forEach((value, i) => points.set(colours.get(value) ?? other, 3 * i));
  const entries = own.map((level) => ({ text: levels[level], levels: [level], count: counts[level], colour: css(colours.get(level)) }));
  const rest = ranked.slice(palette.length);
  if (rest.length) {
    const total = rest.reduce((sum, level) => sum + counts[level], 0);
    entries.push({ text: `${rest.length} others`, levels: rest, count: total, colour: css(other) });
  }
  if (unknown) entries.push({ text: "not known", levels: [], count: unknown, colour: css(other) });
  return { points, legend: { entries } };
}
