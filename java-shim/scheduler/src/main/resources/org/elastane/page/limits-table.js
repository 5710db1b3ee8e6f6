// A table of containers' limits: in force, planned, what comes next, and why.

import { duration, IS_NOT_KNOWN, NOTHING } from "./amounts.js";
import { limitAmount, limitName } from "./limit-amounts.js";
import { decisionsHref } from "./routes.js";
import { Table } from "./table.js";

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
      { heading: "Limit", cell: limitName, sort: limitName },
      { heading: "In force", cell: (it) => limitAmount(it, it.in_force), number: true },
      { heading: "Planned now", cell: (it) => limitAmount(it, it.planned), number: true },
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

function next(limit) {
  if (limit.next_in_ms === null) {
    return NOTHING;
  }
  return `${limitAmount(limit, limit.next)} in ${duration(limit.next_in_ms)}`;
}
