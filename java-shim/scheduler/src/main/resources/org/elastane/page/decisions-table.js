// A table of decisions, newest first.

import { moment } from "./amounts.js";
import { inWords } from "./decision-words.js";
import { applicationHref, decisionsHref, nodeHref } from "./routes.js";
import { Table } from "./table.js";

const MOST_ROWS = 500;

const COLUMNS = {
  time: { heading: "Time", cell: (it) => moment(it.time_ms), isName: true },
  kind: { heading: "Kind", cell: (it) => it.kind },
  application: { heading: "Application", cell: (it) => link(it.application, applicationHref), isId: true },
  container: {
    heading: "Container",
    cell: (it) => link(it.container, (container) => decisionsHref({ container })),
    isId: true,
  },
  node: { heading: "Node", cell: (it) => link(it.node, nodeHref), isId: true },
  words: { heading: "Decision", cell: inWords, wraps: true },
};

/** `without` is the name of a column that would be the same in all rows. */
export function decisionsTable({ without = "", most = MOST_ROWS } = {}) {
  const columns = Object.keys(COLUMNS).filter((name) => name !== without);
  const settings = { key: (it) => it.number, most, empty: "No decision to show.", isAlone: true };
  return new Table(
    "Decisions, newest first",
    columns.map((name) => COLUMNS[name]),
    settings,
  );
}

function link(text, href) {
  return text ? { text, href: href(text) } : "";
}
