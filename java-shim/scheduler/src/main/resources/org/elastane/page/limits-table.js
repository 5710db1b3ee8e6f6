// A table of containers' limits: in force, planned, what comes next, and why.

import { cores, duration, IS_NOT_KNOWN, memory, NOTHING, perSecond } from "./amounts.js";
import { decisionsHref } from "./routes.js";
import { Table } from "./table.js";

const KINDS = {
  cpu_weight_cores: ["CPU weight", cores],
  cpu_cap_cores: ["CPU cap", cores],
  memory_bytes: ["memory", memory],
  disk_cap_bytes_per_s: ["disk cap", perSecond],
  network_weight_bytes_per_s: ["network weight", perSecond],
  network_cap_bytes_per_s: ["network cap", perSecond],
};

/** One line for each limit of the containers. */
export class LimitsTable {
  #table = new Table(
    "Limits",
    [
      {
        heading: "Container",
        cell: (it) => ({ text: it.container, href: decisionsHref({ container: it.container }) }),
        sort: (it) => it.container,
        isName: true,
        isId: true,
      },
      { heading: "Limit", cell: (it) => kind(it)[0], sort: (it) => kind(it)[0] },
      { heading: "In force", cell: (it) => amount(it, it.in_force), number: true },
      { heading: "Planned now", cell: (it) => amount(it, it.planned), number: true },
      { heading: "Planned next", cell: next, number: true },
      { heading: "Why", cell: (it) => it.why, wraps: true },
    ],
    {
      key: (it) => `${it.container} ${it.limit}`,
      most: 500,
      isAlone: true,
    },
  );

  get root() {
    return this.#table.root;
  }

  /** Null where the core gives no answer. */
  update(containers) {
    const known = containers ?? [];
    const limits = ({ container, limits }) => (limits ?? []).map((limit) => ({ container, ...limit }));
    this.#table.empty = empty(containers);
    this.#table.update(known.flatMap(limits));
  }
}

function empty(containers) {
  if (containers === null) {
    return IS_NOT_KNOWN;
  }
  const isKnown = containers.every(({ limits }) => limits !== null);
  return isKnown ? "No limit is planned or in force." : "Not known: no agent has reported yet.";
}

function kind({ limit }) {
  return KINDS[limit] ?? [limit, String];
}

function amount(limit, value) {
  return value === null ? NOTHING : kind(limit)[1](value);
}

function next(limit) {
  if (limit.next_in_ms === null) {
    return NOTHING;
  }
  return `${amount(limit, limit.next)} in ${duration(limit.next_in_ms)}`;
}
