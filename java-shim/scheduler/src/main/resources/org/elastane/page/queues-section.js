// The queues: mode, capacity, and what they have booked, are planned to use and use.

import { cores, count, gibOfMb, percent } from "./amounts.js";
import { element } from "./element.js";
import { Table } from "./table.js";

function amount(heading, field, write) {
  return { heading, cell: (it) => write(it[field]), sort: (it) => it[field], number: true };
}

const COLUMNS = [
  { heading: "Queue", cell: (it) => it.queue, sort: (it) => it.queue, isName: true, isLabel: true },
  { heading: "Label", cell: (it) => it.label || "–", sort: (it) => it.label },
  { heading: "Mode", cell: (it) => it.mode, sort: (it) => it.mode },
  amount("Applications", "applications", count),
  amount("Capacity", "capacity_percent", percent),
  amount("Maximum", "maximum_capacity_percent", percent),
  amount("Bookable memory", "bookable_memory_mb", gibOfMb),
  amount("Booked memory", "booked_memory_mb", gibOfMb),
  amount("Planned memory", "planned_memory_mb", gibOfMb),
  amount("Used memory", "used_memory_mb", gibOfMb),
  amount("Booked vcores", "booked_vcores", count),
  amount("Planned CPU", "planned_cpu_cores", cores),
  amount("Used CPU", "used_cpu_cores", cores),
];

export class QueuesSection {
  #table = new Table("Queues, by node label", COLUMNS, {
    key: (it) => `${it.queue} ${it.label}`,
    most: 500,
    isAlone: true,
  });

  constructor() {
    this.root = element("div", {}, this.#table.root);
  }

  show(queues) {
    this.#table.update(queues.flatMap((queue) => queue.labels.map((label) => ({ ...queue, ...label }))));
  }
}
