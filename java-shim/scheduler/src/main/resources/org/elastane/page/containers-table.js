// A table of containers: planned, used, margin and profile.

import { cores, counted, duration, memory, percent } from "./amounts.js";
import { applicationHref, decisionsHref, nodeHref } from "./routes.js";
import { Table } from "./table.js";

const used = (it) => it.measured?.used;

const CONTAINER = {
  heading: "Container",
  cell: (it) => [
    { text: it.container, href: decisionsHref({ container: it.container }) },
    it.application_master ? " (application master)" : "",
  ],
  sort: (it) => it.container,
  isName: true,
  isId: true,
};
const APPLICATION = {
  heading: "Application",
  cell: (it) => ({ text: it.application, href: applicationHref(it.application) }),
  sort: (it) => it.application,
  isId: true,
};
const NODE = {
  heading: "Node",
  cell: (it) => ({ text: it.node, href: nodeHref(it.node) }),
  sort: (it) => it.node,
  isId: true,
};

const FIGURES = [
  {
    heading: "Runs for",
    cell: (it) => duration(it.running_for_ms),
    sort: (it) => it.running_for_ms,
    number: true,
  },
  { heading: "Ends in", cell: (it) => duration(it.ends_in_ms), sort: (it) => it.ends_in_ms, number: true },
  {
    heading: "Requested",
    cell: (it) => `${memory(it.requested_memory_bytes)}, ${counted(it.requested_vcores, "vcore")}`,
    sort: (it) => it.requested_memory_bytes,
    number: true,
  },
  {
    heading: "Planned memory",
    cell: (it) => memory(it.planned.memory_bytes),
    sort: (it) => it.planned.memory_bytes,
    number: true,
  },
  {
    heading: "Used memory",
    cell: (it) => memory(used(it)?.memory_bytes),
    sort: (it) => used(it)?.memory_bytes,
    number: true,
  },
  {
    heading: "Planned CPU",
    cell: (it) => cores(it.planned.cpu_cores),
    sort: (it) => it.planned.cpu_cores,
    number: true,
  },
  {
    heading: "Used CPU",
    cell: (it) => cores(used(it)?.cpu_cores),
    sort: (it) => used(it)?.cpu_cores,
    number: true,
  },
  {
    heading: "Margin",
    cell: (it) => percent(it.margin_percent),
    sort: (it) => it.margin_percent,
    number: true,
  },
  { heading: "Planned by", cell: basis, sort: basis, isId: true, isLabel: true },
];

/** A table of the containers of one node, or of one application. */
export function containersTable(isOfNode) {
  const columns = [CONTAINER, isOfNode ? APPLICATION : NODE, ...FIGURES];
  return new Table("Containers", columns, { key: (it) => it.container, most: 500, isAlone: true });
}

function basis(container) {
  if (container.profile) {
    return container.profile;
  }
  return container.by_others ? "other applications" : "its request";
}
