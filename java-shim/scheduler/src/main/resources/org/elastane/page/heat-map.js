// A map of all nodes, one cell a node, on a canvas: thousands of cells cost one painting. The map is one stop of the
// tabulator key, in which the arrow keys choose a cell.

import { colour, onSchemeChange } from "./colours.js";
import { element } from "./element.js";
import { colours, hatched, stepOf } from "./heat-colours.js";

const LARGEST = 56;
const SMALLEST = 8;
const HEIGHT = 400;
const WITH_TEXT = 40;
/** Width of the two lines around the chosen cell. One of them differs from every colour. */
const RING = 2;

export class HeatMap {
  #canvas = element("canvas", { role: "img", "aria-label": "Heat map of nodes" });
  #cells = [];
  #columns = 1;
  #size = LARGEST;
  #hovered = -1;
  /** The name of the node that the keys chose, since a refresh can move its cell. */
  #chosen = null;
  #hasFocus = false;
  #listener;
  #onopen;
  #stop = onSchemeChange(() => this.paint());
  #observer = new ResizeObserver(() => this.paint());

  /** `onpoint` and `onopen` get a cell. `onpoint` also gets null, and whether a key chose the cell just now. */
  constructor({ onpoint, onopen }) {
    this.#listener = onpoint;
    this.#onopen = onopen;
    // In an application a screen reader hands over the arrow keys.
    this.root = element(
      "div",
      {
        className: "heat",
        tabindex: 0,
        role: "application",
        "aria-label": "Choose a node: arrow keys, Home and End; Enter opens it",
        onkeydown: (event) => this.#press(event),
        onfocus: () => this.#focus(),
        onblur: () => this.#blur(),
      },
      this.#canvas,
    );
    this.#canvas.addEventListener("pointermove", (event) => this.#hover(this.#at(event)));
    this.#canvas.addEventListener("pointerleave", () => this.#hover(-1));
    this.#canvas.addEventListener("click", (event) => {
      const cell = this.#cells[this.#at(event)];
      if (cell) {
        onopen(cell);
      }
    });
    // A press of the pointer would take the focus, and with it choose the first cell.
    this.root.addEventListener("mousedown", (event) => event.preventDefault());
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
    const paintCell = (cell, index) => {
      const [x, y] = this.#corner(index);
      const isKnown = !cell.isSilent && cell.share !== null;
      const step = isKnown ? stepOf(cell.share) : 0;
      context.globalAlpha = cell.isFound ? 1 : 0.15;
      context.fillStyle = isKnown ? palette[step].fill : silent;
      context.fillRect(x, y, side, side);
      if (side >= WITH_TEXT && isKnown) {
        context.fillStyle = palette[step].text;
        context.fillText(`${Math.round(cell.share * 100)} %`, x + side / 2, y + side / 2);
      }
      context.globalAlpha = 1;
    };
    this.#cells.forEach(paintCell);
    const chosen = this.#ringIndex();
    if (chosen >= 0) {
      const [x, y] = this.#corner(chosen);
      for (const [wider, name] of [
        [2 * RING, "--text"],
        [RING, "--ground"],
      ]) {
        context.fillStyle = colour(name);
        context.fillRect(x - wider, y - wider, side + 2 * wider, side + 2 * wider);
      }
      paintCell(this.#cells[chosen], chosen);
    }
  }

  #at(event) {
    const column = Math.floor(event.offsetX / this.#size);
    const index = Math.floor(event.offsetY / this.#size) * this.#columns + column;
    return column < this.#columns && index >= 0 && index < this.#cells.length ? index : -1;
  }

  #corner(index) {
    return [(index % this.#columns) * this.#size, Math.floor(index / this.#columns) * this.#size];
  }

  #hover(index) {
    this.#hovered = index;
    this.#canvas.style.cursor = index < 0 ? "default" : "pointer";
    this.#tell(false);
  }

  /** Of the cell below the pointer, or else of the chosen one. */
  #tell(isByKey) {
    const index = isByKey || this.#hovered < 0 ? this.#ringIndex() : this.#hovered;
    this.#listener(this.#cells[index] ?? null, isByKey);
  }

  #chosenIndex() {
    return this.#chosen === null ? -1 : this.#cells.findIndex((cell) => cell.node.node === this.#chosen);
  }

  /** Without the focus, the choice is kept but not shown. */
  #ringIndex() {
    return this.#hasFocus ? this.#chosenIndex() : -1;
  }

  #choose(index) {
    this.#chosen = this.#cells[index]?.node.node ?? null;
    this.paint();
    this.#tell(true);
  }

  #focus() {
    this.#hasFocus = true;
    const chosen = this.#chosenIndex();
    const first = this.#cells.findIndex((cell) => cell.isFound);
    this.#choose(chosen >= 0 ? chosen : Math.max(0, first));
  }

  #blur() {
    this.#hasFocus = false;
    this.paint();
    this.#tell(false);
  }

  #press(event) {
    // With one of these an arrow is the browser's: Alt and left go back.
    if (event.altKey || event.ctrlKey || event.metaKey) {
      return;
    }
    const chosen = this.#chosenIndex();
    if (event.key === "Enter") {
      if (chosen >= 0) {
        this.#onopen(this.#cells[chosen]);
      }
      return;
    }
    // A refresh may have removed the chosen node.
    const at = Math.max(0, chosen);
    const last = this.#cells.length - 1;
    const wanted = {
      ArrowLeft: at - 1,
      ArrowRight: at + 1,
      ArrowUp: at - this.#columns,
      ArrowDown: at + this.#columns,
      Home: 0,
      End: last,
    }[event.key];
    if (wanted === undefined) {
      return;
    }
    // Otherwise the page would scroll.
    event.preventDefault();
    if (wanted >= 0 && wanted <= last) {
      this.#choose(wanted);
    }
  }
}
