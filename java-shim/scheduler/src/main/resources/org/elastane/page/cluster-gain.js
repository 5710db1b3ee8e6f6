// What was booked above the registered size of the nodes.

import { count, duration, gibOfMb, isNumber, NOT_KNOWN, NOTHING, number } from "./amounts.js";

const MS_OF_HOUR = 3_600_000;
const GAP_STEPS = 3;

/** Tiles; the mean size of a container is that of the whole cluster. */
export function gains(entry, cluster, containers, history) {
  const aboveMb = entry.above_memory_mb ?? 0;
  const meanMb = containers > 0 ? cluster.booked_memory_mb / containers : 0;
  const none = isNumber(containers) ? "no container runs" : NOT_KNOWN;
  const { nodeHours, overMs } = gained(history);
  return [
    {
      name: "Booked above physical now",
      value: gibOfMb(aboveMb),
      about: `${number((100 * aboveMb) / Math.max(1, entry.physical_memory_mb))} % of the physical memory`,
    },
    {
      name: "In containers of mean size",
      value: meanMb > 0 ? count(Math.floor(aboveMb / meanMb)) : NOTHING,
      about: meanMb > 0 ? `${gibOfMb(meanMb)} each` : none,
    },
    {
      name: "Node-hours gained",
      value: number(nodeHours),
      about: `memory booked above physical ÷ mean memory of a node, over ${duration(overMs)}`,
    },
  ];
}

/** The integral of the memory that nodes had booked above their physical one, in nodes of mean size. */
export function gained({ step_ms: stepMs, time_ms: times, nodes, ...columns }) {
  let nodeHours = 0;
  let overMs = 0;
  for (let i = 1; i < times.length; i += 1) {
    const physical = columns.physical_memory_mb[i];
    const above = columns.above_memory_mb?.[i];
    const passedMs = times[i] - times[i - 1];
    // Nothing is known of a pause, such as a restart.
    if (passedMs > GAP_STEPS * stepMs || !isNumber(above) || !(physical > 0) || !(nodes[i] > 0)) {
      continue;
    }
    overMs += passedMs;
    const meanMb = physical / nodes[i];
    nodeHours += (above / meanMb) * (passedMs / MS_OF_HOUR);
  }
  return { nodeHours, overMs };
}
