// The sizes of the cluster over the last hours, and its plan for the next ten minutes.

import { cores, GIBIBYTE, gibOfMb, latest, MB_OF_GIB, MEBIBYTE, NOTHING, number, perSecond } from "./amounts.js";
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
// Nobody requests traffic, so none is booked.
const KINDS_OF_TRAFFIC = ["physical", "planned", "used"];

export class ClusterCharts {
  #memory = new Chart("Memory, GiB", { format: (gib) => `${number(gib)} GiB`, sync: "cluster" });
  #cpu = new Chart("CPU, cores", { format: cores, sync: "cluster" });
  #network = new Chart("Network, MiB/s", { format: mibPerSecond, sync: "cluster" });
  #disk = new Chart("Disks, MiB/s", { format: mibPerSecond, sync: "cluster" });
  #all = [this.#memory, this.#cpu, this.#network, this.#disk];
  root = element("div", { className: "charts" }, ...this.#all.map((chart) => chart.root));

  show(history, plan) {
    const past = withGaps(history);
    const now = history.time_ms.at(-1) ?? Date.now();
    const inGib = (values) => values.map((mb) => (mb === null ? null : mb / MB_OF_GIB));
    const column = (kind, unit) => past.of(`${kind}_${unit}`);
    const kinds = Object.keys(KINDS);
    draw(this.#memory, {
      past,
      now,
      kinds,
      plan: plan && { slotMs: plan.slot_ms, values: plan.memory_bytes.map((it) => it / GIBIBYTE) },
      column: (kind) => inGib(column(kind, "memory_mb")),
      write: (gib) => gibOfMb(gib * MB_OF_GIB),
    });
    draw(this.#cpu, {
      past,
      now,
      kinds,
      plan: plan && { slotMs: plan.slot_ms, values: plan.cpu_cores },
      column: (kind) => column(kind, kind === "planned" || kind === "used" ? "cpu_cores" : "vcores"),
      write: cores,
    });
    for (const [chart, field] of [
      [this.#network, "network_bytes_per_s"],
      [this.#disk, "disk_bytes_per_s"],
    ]) {
      draw(chart, {
        past,
        now,
        kinds: KINDS_OF_TRAFFIC,
        plan: plan && { slotMs: plan.slot_ms, values: plan[field].map((it) => it / MEBIBYTE) },
        column: (kind) => column(kind, field).map((it) => inMib(kind, it)),
        write: mibPerSecond,
      });
    }
  }

  close() {
    for (const chart of this.#all) {
      chart.close();
    }
  }
}

function mibPerSecond(mib) {
  return perSecond(mib * MEBIBYTE);
}

/** A physical size of 0 is one that is not known. */
function inMib(kind, bytes) {
  return bytes === null || (kind === "physical" && bytes === 0) ? null : bytes / MEBIBYTE;
}

function draw(chart, { past, now, kinds, plan, column, write }) {
  const future = plan?.values ?? [];
  const times = [...past.times, ...future.map((_, slot) => now + (slot + 1) * (plan?.slotMs ?? 0))];
  const nothingLater = future.map(() => null);
  const series = kinds.map((kind) => ({
    label: KINDS[kind],
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
