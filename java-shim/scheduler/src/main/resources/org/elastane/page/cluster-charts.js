// The sizes of the cluster over the last hours, and its plan for the next ten minutes.

import { cores, GIBIBYTE, gibOfMb, latest, MB_OF_GIB, NOTHING, number } from "./amounts.js";
import { Chart } from "./chart.js";
import { element } from "./element.js";

// A younger history fills the right end of so much time.
const LEAST_SHOWN_MS = 1_200_000;
// A longer pause than this many steps is a time without history, such as a restart.
const GAP_STEPS = 3;

const KINDS = {
  physical: "Physical",
  bookable: "Bookable",
  booked: "Booked",
  planned: "Planned",
  used: "Used",
};

export class ClusterCharts {
  #memory = new Chart("Memory, GiB", { format: (gib) => `${number(gib)} GiB`, sync: "cluster" });
  #cpu = new Chart("CPU, cores", { format: cores, sync: "cluster" });
  root = element("div", { className: "charts" }, this.#memory.root, this.#cpu.root);

  show(history, plan) {
    const past = withGaps(history);
    const now = history.time_ms.at(-1) ?? Date.now();
    const inGib = (values) => values.map((mb) => (mb === null ? null : mb / MB_OF_GIB));
    const column = (kind, unit) => past.of(`${kind}_${unit}`);
    draw(this.#memory, {
      past,
      now,
      plan: plan && { slotMs: plan.slot_ms, values: plan.memory_bytes.map((it) => it / GIBIBYTE) },
      column: (kind) => inGib(column(kind, "memory_mb")),
      write: (gib) => gibOfMb(gib * MB_OF_GIB),
    });
    draw(this.#cpu, {
      past,
      now,
      plan: plan && { slotMs: plan.slot_ms, values: plan.cpu_cores },
      column: (kind) => column(kind, kind === "planned" || kind === "used" ? "cpu_cores" : "vcores"),
      write: cores,
    });
  }

  close() {
    this.#memory.close();
    this.#cpu.close();
  }
}

function draw(chart, { past, now, plan, column, write }) {
  const future = plan?.values ?? [];
  const times = [...past.times, ...future.map((_, slot) => now + (slot + 1) * (plan?.slotMs ?? 0))];
  const nothingLater = future.map(() => null);
  const series = Object.entries(KINDS).map(([kind, label]) => ({
    label,
    colour: `--${kind}`,
    values: [...column(kind), ...nothingLater],
  }));
  if (future.length > 0) {
    const nothingEarlier = past.times.map(() => null);
    const values = [...nothingEarlier, ...future];
    series.push({ label: "Planned, next", colour: "--planned", dash: true, values });
  }
  const since = now - LEAST_SHOWN_MS;
  chart.show({ times, series, now, since, sentence: sentence(past.times, series, future, write) });
}

function sentence(times, series, future, write) {
  if (times.length === 0) {
    return "No history yet: its first point comes within 10 s.";
  }
  const said = (value) => (value === null ? NOTHING : write(value));
  const numbers = series
    .filter(({ dash }) => !dash)
    .map(({ label, values }) => `${label.toLowerCase()} ${said(latest(values))}`);
  const next = future.length > 0 ? `; planned at most ${write(Math.max(...future))} in the next ten minutes` : "";
  return `Latest: ${numbers.join(", ")}${next}.`;
}

/** The history with an empty entry in each long pause, where the lines break. */
function withGaps({ step_ms: stepMs, time_ms: timesMs, ...columns }) {
  const order = [];
  const times = [];
  timesMs.forEach((ms, index) => {
    if (index > 0 && ms - timesMs[index - 1] > GAP_STEPS * stepMs) {
      times.push(timesMs[index - 1] + stepMs);
      order.push(null);
    }
    times.push(ms);
    order.push(index);
  });
  const of = (name) => order.map((index) => (index === null ? null : (columns[name]?.[index] ?? null)));
  return { times, of };
}
