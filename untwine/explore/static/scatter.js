// A scatter plot on canvas: tens of thousands of points, stamped into one image; hover, click, lasso, zoom, keys.

import { rgb } from "./colours.js";
import { h } from "./dom.js";

const NEAR = 14; // pixels within which a point is hit
const STRIDE = 7919; // a prime: points are drawn in an order that mixes groups, so that none lies on top of all others
const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const KEYS = new Set([...Object.keys(DIRECTIONS), "Enter", " ", "+", "=", "-"]);

export class Scatter {
  constructor(name, handlers) {
    this.handlers = handlers;
    this.n = 0;
    this.tool = "select";
    this.zoom = { scale: 1, x: 0, y: 0 };
    this.current = this.hovered = this.focused = null;
    this.start = null; // where the pointer was pressed, while it is
    this.early = []; // keys that are pressed before there are points
    this.base = h("canvas", { "aria-hidden": "true" });
    this.over = h("canvas", { "aria-hidden": "true" });
    this.element = h("div", {
      class: "plot", tabindex: "0", role: "application", "aria-roledescription": "scatter plot",
      "aria-label": `Map of the ${name}. Arrow keys move from point to point, Enter shows the sample, Space selects it, plus and minus zoom.`,
    }, this.base, this.over);
    this.listen();
    new ResizeObserver(() => this.resize()).observe(this.element);
  }

  setPoints(points) {
    if (this.start) { // what is being drawn around must not move away
      this.late = points;
      return;
    }
    this.n = points.length / 2;
    this.points = points;
    let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let i = 0; i < this.n; i += 1) {
      left = Math.min(left, points[2 * i]); right = Math.max(right, points[2 * i]);
      top = Math.min(top, points[2 * i + 1]); bottom = Math.max(bottom, points[2 * i + 1]);
    }
    this.frame = { x: (left + right) / 2, y: (top + bottom) / 2, width: right - left || 1, height: bottom - top || 1 };
    this.zoom = { scale: 1, x: 0, y: 0 };
    this.draw();
    this.catchUp();
  }

  catchUp() {
    if (this.n && this.width) for (const key of this.early.splice(0)) this.act(key);
  }

  setColours(colours) { this.colours = colours; this.draw(); }
  setSelected(selected, any) { this.selected = any ? selected : null; this.draw(); }
  setCurrent(current) { this.current = current; this.drawOver(); }
  setHovered(hovered) { if (hovered !== this.hovered) { this.hovered = hovered; this.drawOver(); } }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.element;
    if (!width || !height) return;
    this.ratio = Math.min(2, window.devicePixelRatio || 1);
    for (const canvas of [this.base, this.over]) {
      canvas.width = Math.round(width * this.ratio);
      canvas.height = Math.round(height * this.ratio);
    }
    this.width = width;
    this.height = height;
    this.draw();
    this.catchUp();
  }

  // Where all points are, in pixels of the element: y goes up. Kept until the view changes.
  places() {
    if (this.seen) return this.seen;
    const { x, y, width, height } = this.frame;
    const fit = Math.min((this.width - 28) / width, (this.height - 28) / height) * this.zoom.scale;
    const [left, top] = [this.width / 2 + this.zoom.x - x * fit, this.height / 2 + this.zoom.y + y * fit];
    this.seen = new Float32Array(2 * this.n);
    for (let k = 0; k < 2 * this.n; k += 2) {
      this.seen[k] = left + this.points[k] * fit;
      this.seen[k + 1] = top - this.points[k + 1] * fit;
    }
    return this.seen;
  }

  place(i) {
    const places = this.places();
    return [places[2 * i], places[2 * i + 1]];
  }

  // `data-drawn` is there while the canvas shows what it should: the milliseconds that it took.
  draw() {
    this.seen = null;
    delete this.element.dataset.drawn;
    if (this.pending) return;
    this.pending = requestAnimationFrame(() => {
      this.pending = 0;
      if (this.n && this.width && this.colours?.length === 3 * this.n) {
        const begun = performance.now();
        this.stampAll();
        this.element.dataset.drawn = (performance.now() - begun).toFixed(1);
      }
      this.drawOver();
    });
  }

  stampAll() {
    const context = this.base.getContext("2d");
    const { width, height } = this.base;
    if (this.image?.width !== width || this.image.height !== height) this.image = context.createImageData(width, height);
    const paper = rgb(getComputedStyle(this.element).getPropertyValue("--plot").trim());
    const pixels = new Uint32Array(this.image.data.buffer);
    pixels.fill((255 << 24) | (paper[2] << 16) | (paper[1] << 8) | paper[0]);
    const radius = (this.n > 8000 ? 1.7 : this.n > 2000 ? 2.2 : this.n > 300 ? 3 : 4.5) * this.ratio * Math.min(2, this.zoom.scale ** 0.3);
    const step = this.n % STRIDE ? STRIDE : STRIDE + 2;
    const places = this.places();
    const visit = (alpha, which) => {
      const stamp = disc(radius, alpha, width);
      for (let k = 0, i = 0; k < this.n; k += 1, i = (i + step) % this.n) {
        if (which !== null && this.selected[i] !== which) continue;
        const x = Math.round(places[2 * i] * this.ratio);
        const y = Math.round(places[2 * i + 1] * this.ratio);
        blend(pixels, width, height, x, y, stamp, this.colours, 3 * i);
      }
    };
    if (this.selected) {
      visit(0.13, 0);
      visit(1, 1);
    } else visit(0.85, null);
    context.putImageData(this.image, 0, 0);
  }

  drawOver() {
    if (!this.width) return;
    const context = this.over.getContext("2d");
    const style = getComputedStyle(this.element);
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    if (!this.n) return;
    const ring = (i, radius, colour, line) => {
      if (i === null || i >= this.n) return;
      const [x, y] = this.place(i);
      context.beginPath();
      context.arc(x, y, radius, 0, 2 * Math.PI);
      context.lineWidth = line;
      context.strokeStyle = colour;
      context.stroke();
    };
    ring(this.hovered, 7, style.getPropertyValue("--ink"), 1.5);
    ring(this.current, 8, style.getPropertyValue("--paper"), 5);
    ring(this.current, 8, style.getPropertyValue("--ink"), 2.5);
    if (document.activeElement === this.element) ring(this.focused, 11, style.getPropertyValue("--link"), 2);
    if (this.path?.length > 1) {
      context.beginPath();
      this.path.forEach(([x, y], k) => (k ? context.lineTo(x, y) : context.moveTo(x, y)));
      context.closePath();
      context.globalAlpha = 0.12;
      context.fillStyle = style.getPropertyValue("--link");
      context.fill();
      context.globalAlpha = 1;
      context.setLineDash([5, 4]);
      context.lineWidth = 1.5;
      context.strokeStyle = style.getPropertyValue("--link");
      context.stroke();
      context.setLineDash([]);
    }
  }

  nearest(x, y, most = NEAR) {
    if (!this.n || !this.width) return null;
    const places = this.places();
    let best = most * most;
    let found = null;
    for (let i = 0; i < this.n; i += 1) {
      const distance = (places[2 * i] - x) ** 2 + (places[2 * i + 1] - y) ** 2;
      if (distance < best) {
        best = distance;
        found = i;
      }
    }
    return found;
  }

  inside(path) {
    const found = [];
    for (let i = 0; i < this.n; i += 1) {
      const [x, y] = this.place(i);
      let within = false;
      for (let a = 0, b = path.length - 1; a < path.length; b = a, a += 1) {
        const [[ax, ay], [bx, by]] = [path[a], path[b]];
        if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) within = !within;
      }
      if (within) found.push(i);
    }
    return found;
  }

  zoomBy(factor, x = this.width / 2, y = this.height / 2) {
    const scale = Math.min(60, Math.max(1, this.zoom.scale * factor));
    const ratio = scale / this.zoom.scale;
    const [cx, cy] = [x - this.width / 2, y - this.height / 2];
    this.zoom = scale === 1 ? { scale, x: 0, y: 0 } : { scale, x: cx - (cx - this.zoom.x) * ratio, y: cy - (cy - this.zoom.y) * ratio };
    this.draw();
  }

  listen() {
    const at = (event) => {
      const box = this.element.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    this.element.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      this.start = { at: at(event), moved: false, zoom: { ...this.zoom }, drag: this.tool === "move" };
      this.element.setPointerCapture(event.pointerId);
    });
    this.element.addEventListener("pointermove", (event) => {
      const [x, y] = at(event);
      const { start } = this;
      if (!start) {
        const found = this.nearest(x, y);
        this.handlers.hover(found, event.clientX, event.clientY);
        return;
      }
      const [sx, sy] = start.at;
      if (!start.moved && Math.hypot(x - sx, y - sy) < 5) return;
      if (!start.moved) this.handlers.hover(null);
      start.moved = true;
      if (start.drag) {
        this.zoom = { ...start.zoom, x: start.zoom.x + x - sx, y: start.zoom.y + y - sy };
        this.draw();
      } else {
        this.path ??= [start.at];
        this.path.push([x, y]);
        this.drawOver();
      }
    });
    const end = (event) => {
      if (!this.start) return;
      const { moved, drag, at: point } = this.start;
      this.start = null;
      const path = this.path;
      this.path = null;
      if (event.type === "pointercancel") this.drawOver();
      else if (!moved) this.handlers.pick(this.nearest(...point));
      else if (!drag && path?.length > 2) this.handlers.lasso(this.inside(path), event.altKey ? "remove" : event.shiftKey ? "add" : "replace");
      if (this.late) this.setPoints(this.late);
      this.late = null;
      this.drawOver();
    };
    this.element.addEventListener("pointerup", end);
    this.element.addEventListener("pointercancel", end);
    this.element.addEventListener("pointerleave", () => this.handlers.hover(null));
    this.element.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && this.tool !== "move") return; // the page scrolls, unless the map is being moved
      event.preventDefault();
      this.zoomBy(Math.exp(-event.deltaY / 300), ...at(event));
    }, { passive: false });
    this.element.addEventListener("keydown", (event) => this.key(event));
    for (const event of ["focus", "blur"]) this.element.addEventListener(event, () => this.drawOver());
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !KEYS.has(event.key)) return; // such as the browser's own zoom
    event.preventDefault();
    if (this.n && this.width) this.act(event.key);
    else this.early.push(event.key);
  }

  act(key) {
    if (key in DIRECTIONS) {
      this.focused = this.focused === null ? this.current ?? this.nearest(this.width / 2, this.height / 2, Infinity) : this.step(DIRECTIONS[key]);
      this.handlers.focus(this.focused);
      this.drawOver();
    } else if (key === "Enter") this.handlers.pick(this.focused);
    else if (key === " ") this.handlers.toggle(this.focused);
    else this.zoomBy(key === "-" ? 1 / 1.4 : 1.4);
  }

  // The next point in a direction: near, and more ahead than aside.
  step([dx, dy]) {
    const [x, y] = this.place(this.focused);
    let [best, found] = [Infinity, this.focused];
    for (let i = 0; i < this.n; i += 1) {
      const [px, py] = this.place(i);
      const ahead = (px - x) * dx + (py - y) * dy;
      const aside = Math.abs((px - x) * dy) + Math.abs((py - y) * dx);
      if (ahead > 0.5 && aside <= ahead && ahead + 2 * aside < best) [best, found] = [ahead + 2 * aside, i];
    }
    return found;
  }
}

// A disc as pixels: where each lies from its middle, and its weight in 256ths, antialiased.
function disc(radius, alpha, width) {
  const reach = Math.ceil(radius);
  const cells = [];
  for (let dy = -reach; dy <= reach; dy += 1) {
    for (let dx = -reach; dx <= reach; dx += 1) {
      const weight = Math.round(256 * alpha * Math.min(1, Math.max(0, radius + 0.5 - Math.hypot(dx, dy))));
      if (weight) cells.push({ dx, dy, weight });
    }
  }
  const of = (field) => Int32Array.from(cells, field);
  return { reach, dx: of((one) => one.dx), dy: of((one) => one.dy), offset: of((one) => one.dy * width + one.dx), weight: of((one) => one.weight) };
}

// Red and blue are mixed in one multiplication, which takes a third of the time of one for each channel.
function blend(pixels, width, height, x, y, { reach, dx, dy, offset, weight }, colours, at) {
  if (x < -reach || y < -reach || x >= width + reach || y >= height + reach) return;
  const whole = x >= reach && y >= reach && x < width - reach && y < height - reach;
  const redBlue = colours[at] | (colours[at + 2] << 16);
  const green = colours[at + 1] << 8;
  const middle = y * width + x;
  for (let k = 0; k < offset.length; k += 1) {
    if (!whole && (x + dx[k] < 0 || x + dx[k] >= width || y + dy[k] < 0 || y + dy[k] >= height)) continue;
    const under = pixels[middle + offset[k]];
    const rest = 256 - weight[k];
    const mixed = ((Math.imul(redBlue, weight[k]) + Math.imul(under & 0xff00ff, rest) + 0x800080) >>> 8) & 0xff00ff;
    const greens = ((Math.imul(green, weight[k]) + Math.imul(under & 0xff00, rest) + 0x8000) >>> 8) & 0xff00;
    pixels[middle + offset[k]] = 0xff000000 | mixed | greens;
  }
}
