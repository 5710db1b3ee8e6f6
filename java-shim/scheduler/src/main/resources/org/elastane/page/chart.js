// A chart over time: uPlot with the page's colours, and its latest numbers as a sentence.

import { clockMinute, clockTime, isNumber, latest, number } from "./amounts.js";
import { colour, onSchemeChange } from "./colours.js";
import { element, setText } from "./element.js";
import uPlot from "./uplot/uPlot.esm.js";

const HEIGHT = 230;
// Above the highest line, for the word "now".
const HEADROOM = 1.12;
const FINE_SECONDS = 60;
// A value holds until the next one.
const STEPPED = uPlot.paths.stepped({ align: 1 });

export class Chart {
  #plot = null;
  #shape = "";
  #shown = null;
  #now = null;
  #zoom = null;
  #place = element("div", { className: "plot", "aria-hidden": "true" });
  #sentence = element("p", { className: "note" });
  #format;
  #sync;
  #stop;
  #observer = new ResizeObserver(() => this.#resize());

  /** Charts with the same `sync` share the cursor. */
  constructor(title, { format = number, sync = null } = {}) {
    this.#format = format;
    this.#sync = sync;
    this.root = element("figure", {}, element("figcaption", {}, title), this.#place, this.#sentence);
    this.#stop = onSchemeChange(() => this.#rebuild());
    this.#observer.observe(this.#place);
  }

  /**
   * `times` in ms; each series has `label`, `values`, `colour` and, if wanted, `dash`, `isFilled`, `isStepped`,
   * and `own`, the values that the legend shows where those that are drawn are stacked. The chart
   * begins at `since` at the latest, so that a short history is no wall at its edge.
   */
  show({ sentence, now = null, since = null, ...shown }) {
    const { times, series } = begunAt(since, shown);
    setText(this.#sentence, sentence);
    this.#now = now;
    this.#zoom = this.#zoomed();
    this.#shown = { data: [times.map((ms) => ms / 1000), ...series.map((it) => it.values)], series };
    this.#place.hidden = times.length === 0;
    const shape = JSON.stringify(series.map((it) => [it.label, it.colour, it.dash, it.isFilled, it.isStepped]));
    if (this.#plot === null || shape !== this.#shape) {
      this.#shape = shape;
      this.#rebuild();
    } else {
      this.#plot.setData(this.#shown.data);
    }
  }

  close() {
    this.#stop();
    this.#observer.disconnect();
    this.#plot?.destroy();
  }

  /** The part of the time that the user dragged over, in seconds; null for all of it. */
  #zoomed() {
    if (this.#plot === null) {
      return this.#zoom;
    }
    const [times] = this.#plot.data;
    const { min, max } = this.#plot.scales.x;
    const isPart = times.length > 1 && (min > times[0] || max < times.at(-1));
    return isPart && max > times[0] ? { min, max } : null;
  }

  #rebuild() {
    this.#zoom = this.#zoomed();
    this.#plot?.destroy();
    this.#plot = null;
    if (this.#shown && this.#place.clientWidth > 0) {
      this.#plot = new uPlot(this.#options(), this.#shown.data, this.#place);
    }
  }

  #resize() {
    const width = this.#place.clientWidth;
    if (width === 0) {
      return;
    }
    if (this.#plot === null) {
      this.#rebuild();
    } else if (this.#plot.width !== width) {
      this.#plot.setSize({ width, height: HEIGHT });
    }
  }

  #options() {
    const font = `12px ${getComputedStyle(document.body).fontFamily}`;
    const axis = {
      font,
      stroke: colour("--muted"),
      grid: { stroke: colour("--line"), width: 1 },
      ticks: { stroke: colour("--line"), width: 1, size: 4 },
    };
    return {
      width: this.#place.clientWidth,
      height: HEIGHT,
      scales: {
        // New data keeps what was zoomed to, until a double click.
        x: { auto: () => this.#zoom === null, ...this.#zoom },
        y: { range: (plot, low, high) => [0, high > 0 ? high * HEADROOM : 1] },
      },
      cursor: {
        sync: this.#sync ? { key: this.#sync } : undefined,
        points: { size: 6 },
        drag: { setScale: true },
      },
      axes: [
        { ...axis, values: timeLabels, space: 64, size: 30 },
        { ...axis, values: (plot, splits) => splits.map(axisNumber), size: 58 },
      ],
      series: [
        {
          label: "Time",
          value: (plot, seconds) => (isNumber(seconds) ? clockTime(seconds * 1000) : "latest"),
        },
        ...this.#shown.series.map((it, index) => this.#line(it, index)),
      ],
      hooks: { draw: [(plot) => this.#drawNow(plot, font)] },
    };
  }

  #line({ label, colour: name, dash, isFilled, isStepped }, index) {
    const stroke = colour(name);
    return {
      label,
      stroke,
      dash: dash ? [6, 4] : undefined,
      width: isFilled ? 0.5 : 1.75,
      fill: isFilled ? stroke : undefined,
      paths: isStepped ? STEPPED : undefined,
      points: { show: false },
      value: (plot, value, at, time) => {
        const { own, values } = this.#shown.series[index];
        const numbers = own ?? values;
        const isPointed = time !== null && time !== undefined;
        // Without the pointer: of the past its latest number, of the plan its next one.
        const shown = isPointed ? numbers[time] : dash ? numbers.find(isNumber) : latest(numbers);
        return isNumber(shown) ? this.#format(shown) : "–";
      },
    };
  }

  #drawNow(plot, font) {
    if (this.#now === null || plot.data[0].at(-1) * 1000 <= this.#now) {
      return;
    }
    const { ctx, bbox } = plot;
    const x = Math.round(plot.valToPos(this.#now / 1000, "x", true));
    if (x < bbox.left || x > bbox.left + bbox.width) {
      return;
    }
    ctx.save();
    ctx.strokeStyle = ctx.fillStyle = colour("--muted");
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([]);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.font = font.replace("12px", `${12 * devicePixelRatio}px`);
    ctx.textAlign = "right";
    ctx.textBaseline = "top";
    ctx.fillText("now", x - 4 * devicePixelRatio, bbox.top + 2 * devicePixelRatio);
    ctx.restore();
  }
}

function begunAt(since, { times, series }) {
  if (since === null || times.length === 0 || times[0] <= since) {
    return { times, series };
  }
  const later = (values) => values && [null, ...values];
  return {
    times: [since, ...times],
    series: series.map((it) => ({ ...it, values: later(it.values), own: later(it.own) })),
  };
}

function timeLabels(plot, splits, axis, space, seconds) {
  const write = seconds < FINE_SECONDS ? clockTime : clockMinute;
  return splits.map((at) => write(at * 1000));
}

function axisNumber(value) {
  return value.toLocaleString("en", { maximumFractionDigits: 3 });
}
