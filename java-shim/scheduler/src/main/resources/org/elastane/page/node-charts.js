// The last 15 minutes of a node, stacked by container, and its plan for the next ten minutes.

import { cores, GIBIBYTE, isNumber, latest, MB_OF_GIB, MEBIBYTE, number } from "./amounts.js";
import { Chart } from "./chart.js";
import { containerColour } from "./colours.js";
import { element } from "./element.js";
import { recent, SHOWN_MS } from "./node-history.js";

/** More containers than these share one area, so that colours can be told apart. */
const MOST_AREAS = 8;

const gibOf = (gib) => `${number(gib)} GiB`;
const flowOf = (mib) => `${number(mib)} MiB/s`;

export class NodeCharts {
  #memory = new Chart("Memory, GiB", { format: gibOf, sync: "node" });
  #cpu = new Chart("CPU, cores", { format: cores, sync: "node" });
  #network = new Chart("Network, MiB/s", { format: flowOf, sync: "node" });
  #disk = new Chart("Disks, MiB/s", { format: flowOf, sync: "node" });
  #all = [this.#memory, this.#cpu, this.#network, this.#disk];
  root = element("div", { className: "charts" }, ...this.#all.map(({ root }) => root));

  show(node) {
    const gib = (bytes) => bytes / GIBIBYTE;
    const mib = (bytes) => bytes / MEBIBYTE;
    draw(this.#memory, node, {
      field: "memory_bytes",
      scaled: gib,
      capacity: gib(node.capacity?.memory_bytes || 0) || node.physical_memory_mb / MB_OF_GIB,
      write: gibOf,
    });
    draw(this.#cpu, node, {
      field: "cpu_cores",
      scaled: (value) => value,
      capacity: node.capacity?.cpu_cores || node.physical_vcores,
      write: cores,
    });
    for (const [chart, field] of [
      [this.#network, "network_bytes_per_s"],
      [this.#disk, "disk_bytes_per_s"],
    ]) {
      // A speed of 0 is one that is not known.
      draw(chart, node, { field, scaled: mib, capacity: mib(node.capacity?.[field] || 0) || null, write: flowOf });
    }
  }

  close() {
    for (const chart of this.#all) {
      chart.close();
    }
  }
}

function draw(chart, node, { field, scaled, capacity, write }) {
  const now = Date.now();
  const history = recent(node.history, field);
  const past = history.age_ms.map((age) => now - age);
  const future = (node.planned?.[field] ?? []).map(scaled);
  const times = [...past, ...future.map((_, slot) => now + (slot + 1) * node.planned.slot_ms)];
  const [before, after] = [past.map(() => null), future.map(() => null)];
  const inUnit = (values) => past.map((_, i) => (isNumber(values?.[i]) ? scaled(values[i]) : null));

  const areas = stacked(areasOf(history, inUnit));
  const all = [...history.containers, history.hidden];
  const planned = past.map((_, i) => sum(all.map((it) => it.planned[i])));
  const series = areas.map((it) => ({ ...it, values: [...it.values, ...after], own: [...it.own, ...after] }));
  series.push({ label: "Planned", colour: "--planned", values: [...inUnit(planned), ...after] });
  if (future.length > 0) {
    series.push({ label: "Planned, next", colour: "--planned", dash: true, values: [...before, ...future] });
  }
  if (capacity !== null) {
    series.push({ label: "Physical", colour: "--physical", values: times.map(() => capacity) });
  }
  const since = now - SHOWN_MS;
  chart.show({
    times,
    series,
    now,
    since,
    sentence: sentence(areas, inUnit(planned), future, capacity, write),
  });
}

function sentence(areas, planned, future, capacity, write) {
  const used = areas.length ? latest(areas[0].values) : null;
  const said = (value) => (value === null ? "not known" : write(value));
  const next = future.length ? `; planned at most ${write(Math.max(...future))} in the next ten minutes` : "";
  return `Latest: used ${said(used)}, planned ${said(latest(planned))}, physical ${said(capacity)}${next}.`;
}

/** One area for each of the largest containers, one for the others, and one for hidden ones. */
function areasOf(history, inUnit) {
  const all = history.containers
    .map((it) => ({ label: shortName(it.container), own: inUnit(it.used) }))
    .filter((it) => it.own.some(isNumber));
  const size = ({ own }) => sum(own) ?? 0;
  const largest = new Set([...all].sort((one, other) => size(other) - size(one)).slice(0, MOST_AREAS));
  const areas = all.filter((it) => largest.has(it)).map((it, i) => ({ ...it, colour: containerColour(i) }));
  const rest = all.filter((it) => !largest.has(it));
  if (rest.length > 0) {
    const own = history.age_ms.map((_, i) => sum(rest.map((it) => it.own[i])));
    areas.push({ label: `${rest.length} smaller ones`, own, colour: "--others" });
  }
  const hidden = inUnit(history.hidden.used);
  if (hidden.some(isNumber)) {
    areas.push({ label: "Not visible to you", own: hidden, colour: "--hidden" });
  }
  return areas;
}

/** The areas with values on top of each other. The highest comes first, as later ones cover it. */
function stacked(areas) {
  let below = areas[0]?.own.map(() => 0) ?? [];
  const known = below.map((_, i) => areas.some(({ own }) => isNumber(own[i])));
  const made = areas.map((area) => {
    below = below.map((height, i) => height + (area.own[i] ?? 0));
    return { ...area, isFilled: true, values: below.map((height, i) => (known[i] ? height : null)) };
  });
  return made.reverse();
}

/** The sum of the numbers; null without one. */
function sum(values) {
  const numbers = values.filter(isNumber);
  return numbers.length ? numbers.reduce((total, value) => total + value, 0) : null;
}

/** The numbers of the application and of the container: container_1763_0007_01_000002 is 0007/000002. */
function shortName(container) {
  const parts = container.split("_");
  return `${parts.at(-3)}/${parts.at(-1)}`;
}
