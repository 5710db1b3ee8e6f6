// A table of the latest changes of containers' limits, newest first, and why.

import { IS_NOT_KNOWN, moment } from "./amounts.js";
import { limitAmount, limitName } from "./limit-amounts.js";
import { decisionsHref } from "./routes.js";
import { Table } from "./table.js";

const NO_LIMIT = "no limit";

/** One line for each change. */
export class LimitChangesTable {
  #table = new Table(
    "Changes of limits, newest first",
    [
      { heading: "Time", cell: (it) => moment(it.at_ms), sort: (it) => it.at_ms },
      {
        heading: "Container",
        cell: (it) => ({ text: it.container, href: decisionsHref({ container: it.container }) }),
        sort: (it) => it.container,
        isName: true,
        isId: true,
      },
      { heading: "Limit", cell: limitName, sort: limitName },
      { heading: "From", cell: (it) => amount(it, it.from), number: true },
      { heading: "To", cell: (it) => amount(it, it.to), number: true },
      { heading: "Why it changed", cell: (it) => it.why, wraps: true },
    ],
    {
      key: (it) => `${it.container} ${it.limit} ${it.at_ms}`,
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
    const changes = known.flatMap(({ container, limit_changes }) =>
      limit_changes.map((change) => ({ container, ...change })),
    );
    this.#table.empty = containers === null ? IS_NOT_KNOWN : "No limit has changed.";
    this.#table.update(changes.sort((one, other) => other.at_ms - one.at_ms));
  }
}

function amount(change, value) {
  return value === null ? NO_LIMIT : limitAmount(change, value);
}
