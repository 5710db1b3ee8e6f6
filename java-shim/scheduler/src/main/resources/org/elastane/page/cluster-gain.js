// What was booked above the registered size of the nodes.

import { count, duration, gibOfMb, isNumber, NOTHING, number } from "./amounts.js";

const MS_OF_HOUR = 3_600_000;
const GAP_STEPS = 3;

/** Tiles; the mean size of a container is that of the whole cluster. */
export function gains(entry, cluster, containers, history) {
  const aboveMb = Math.max(0, entry.booked_memory_mb - entry.physical_memory_mb);
  const meanMb = containers > 0 ? cluster.booked_memory_mb / containers : 0;
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
      about: meanMb > 0 ? `${gibOfMb(meanMb)} each` : "no container runs",
    },
    {
      name: "Node-hours gained",
      value: number(nodeHours),
      about: `memory booked above physical ÷ mean memory of a node, over ${duration(overMs)}`,
    },
  ];
}

/** The integral of what is booked above physical memory, in nodes of mean size. */
export function gained({ step_ms: stepMs, time_ms: times, nodes, ...columns }) {
  let nodeHours = 0;
  let overMs = 0;
  for (let i = 1; i < times.length; i += 1) {
    const physical = columns.physical_memory_mb[i];
    const booked = columns.booked_memory_mb[i];
    const passedMs = times[i] - times[i - 1];
    // Nothing is known of a pause, such as a restart.
    if (passedMs > GAP_STEPS * stepMs || !isNumber(booked) || !(physical > 0) || !(nodes[i] > 0)) {
      continue;
    }
    overMs += passedMs;
    const meanMb = physical / nodes[i];
    nodeHours += (Math.max(0, booked - physical) / meanMb) * (passedMs / MS_OF_HOUR);
  }
  return { nodeHours, overMs };
}
