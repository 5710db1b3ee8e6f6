// A map of all nodes, one cell a node, on a canvas: thousands of cells cost one painting.

import { channels, colour, onSchemeChange } from "./colours.js";
import { element } from "./element.js";

const LARGEST = 56;
const SMALLEST = 8;
const HEIGHT = 400;
const WITH_TEXT = 40;
const STEPS = 40;
/** The share of the last colour. */
const MOST = 2;

export class HeatMap {
  #canvas = element("canvas", { role: "img", "aria-label": "Heat map of nodes" });
  #cells = [];
  #columns = 1;
  #size = LARGEST;
  #hovered = -1;
  #listener;
  #stop = onSchemeChange(() => this.paint());
  #observer = new ResizeObserver(() => this.paint());

  /** `onhover` and `onopen` get a cell, `onhover` also null. */
  constructor({ onhover, onopen }) {
    this.#listener = onhover;
    this.root = element("div", { className: "heat" }, this.#canvas);
    this.#canvas.addEventListener("pointermove", (event) => this.#hover(this.#at(event)));
    this.#canvas.addEventListener("pointerleave", () => this.#hover(-1));
    this.#canvas.addEventListener("click", (event) => {
      const cell = this.#cells[this.#at(event)];
      if (cell) {
        onopen(cell);
      }
    });
    this.#observer.observe(this.root);
  }

  /** Each cell has `node`, `share` (null if not known), `isSilent` and `isFound`, by the filter. */
  show(cells, words) {
    this.#cells = cells;
    this.#canvas.setAttribute("aria-label", words);
    this.paint();
    this.#hover(this.#hovered < cells.length ? this.#hovered : -1);
  }

  paint() {
    const width = this.root.clientWidth;
    if (width === 0) {
      return;
    }
    const count = Math.max(1, this.#cells.length);
    const fitting = Math.floor(Math.sqrt((width * HEIGHT) / count));
    this.#size = Math.min(LARGEST, Math.max(SMALLEST, fitting));
    this.#columns = Math.max(1, Math.floor(width / this.#size));
    const height = Math.ceil(count / this.#columns) * this.#size;
    const ratio = devicePixelRatio;
    const [pixelsWide, pixelsHigh] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.#canvas.width !== pixelsWide || this.#canvas.height !== pixelsHigh) {
      this.#canvas.width = pixelsWide;
      this.#canvas.height = pixelsHigh;
      this.#canvas.style.width = `${width}px`;
      this.#canvas.style.height = `${height}px`;
    }
    const context = this.#canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    this.#paintCells(context);
  }

  close() {
    this.#stop();
    this.#observer.disconnect();
  }

  #paintCells(context) {
    const palette = colours();
    const silent = hatched(context);
    const gap = this.#size > 12 ? 2 : 1;
    const side = this.#size - gap;
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "center";
    context.textBaseline = "middle";
    this.#cells.forEach((cell, index) => {
      const x = (index % this.#columns) * this.#size;
      const y = Math.floor(index / this.#columns) * this.#size;
      const isKnown = !cell.isSilent && cell.share !== null;
      const step = isKnown ? stepOf(cell.share) : 0;
      context.globalAlpha = cell.isFound ? 1 : 0.15;
      context.fillStyle = isKnown ? palette[step].fill : silent;
      context.fillRect(x, y, side, side);
      if (side >= WITH_TEXT && isKnown) {
        context.fillStyle = palette[step].text;
        context.fillText(`${Math.round(cell.share * 100)} %`, x + side / 2, y + side / 2);
      }
    });
    context.globalAlpha = 1;
  }

  #at(event) {
    const column = Math.floor(event.offsetX / this.#size);
    const index = Math.floor(event.offsetY / this.#size) * this.#columns + column;
    return column < this.#columns && index >= 0 && index < this.#cells.length ? index : -1;
  }

  #hover(index) {
    this.#hovered = index;
    this.#listener(this.#cells[index] ?? null);
    this.#canvas.style.cursor = index < 0 ? "default" : "pointer";
  }
}

/** A bar with the colours and what they mean. */
export function legend() {
  const canvas = element("canvas", {
    className: "scale",
    "aria-hidden": "true",
    width: STEPS + 1,
    height: 1,
  });
  const hatch = element("canvas", { className: "hatch", "aria-hidden": "true", width: 14, height: 14 });
  const paint = () => {
    const context = canvas.getContext("2d");
    colours().forEach(({ fill }, step) => {
      context.fillStyle = fill;
      context.fillRect(step, 0, 1, 1);
    });
    const hatching = hatch.getContext("2d");
    hatching.fillStyle = hatched(hatching);
    hatching.fillRect(0, 0, 14, 14);
  };
  paint();
  const root = element(
    "p",
    { className: "legend" },
    element("span", {}, "0 %", canvas, `${MOST * 100} % and more`),
    element("span", {}, hatch, "silent or not known"),
  );
  return { root, close: onSchemeChange(paint) };
}

function stepOf(share) {
  return Math.round((Math.min(MOST, Math.max(0, share)) / MOST) * STEPS);
}

function colours() {
  const stops = [0, 1, 2, 3, 4].map((stop) => channels(`--heat-${stop}`));
  return Array.from({ length: STEPS + 1 }, (_, step) => {
    const at = (step / STEPS) * (stops.length - 1);
    const below = Math.min(stops.length - 2, Math.floor(at));
    const mixed = stops[below].map((low, i) => low + (stops[below + 1][i] - low) * (at - below));
    // Relative luminance, about: the text is black on bright cells.
    const brightness = 0.299 * mixed[0] + 0.587 * mixed[1] + 0.114 * mixed[2];
    return { fill: `rgb(${mixed.map(Math.round).join(" ")})`, text: brightness > 140 ? "#000" : "#fff" };
  });
}

/** Grey stripes, which differ from every colour also for who does not see colours. */
function hatched(context) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 6;
  const drawing = tile.getContext("2d");
  drawing.fillStyle = colour("--line");
  drawing.fillRect(0, 0, 6, 6);
  drawing.strokeStyle = colour("--muted");
  drawing.beginPath();
  for (const shift of [-6, 0, 6]) {
    drawing.moveTo(shift, 6);
    drawing.lineTo(shift + 6, 0);
  }
  drawing.stroke();
  return context.createPattern(tile, "repeat");
}
