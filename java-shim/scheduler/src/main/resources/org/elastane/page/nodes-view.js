// All nodes: a heat map, and a table with the same nodes for search and keyboard.

import { cores, count, counted, duration, gibOfMb, NOT_KNOWN, NOTHING, percent, perSecond } from "./amounts.js";
import { element, field, section, select, setText } from "./element.js";
import { legend } from "./heat-colours.js";
import { HeatMap } from "./heat-map.js";
import { isSilent, MEASURES } from "./heat-measures.js";
import { nodeHref } from "./routes.js";
import { Table } from "./table.js";

const MOST_NODES = 10_000;
const MOST_ROWS = 100;
const PAINTED = "nodes painted";
const HOW =
  "Point at a cell, or choose one by Tab and the arrow keys, for its numbers; a click or Enter opens the node.";
const collator = new Intl.Collator("en", { numeric: true });

const COLUMNS = [
  {
    heading: "Node",
    cell: (it) => ({ text: it.node, href: nodeHref(it.node) }),
    sort: (it) => it.node,
    isName: true,
    isId: true,
  },
  { heading: "Label", cell: (it) => it.label || NOTHING, sort: (it) => it.label },
  { heading: "Mode", cell: (it) => it.mode ?? NOTHING, sort: (it) => it.mode ?? "" },
  { heading: "Raised", cell: (it) => (it.is_raised ? "yes" : "no"), sort: (it) => Number(it.is_raised) },
  { heading: "Report age", cell: report, sort: (it) => it.report_age_ms ?? Infinity, number: true },
  ...["physical", "bookable", "booked", "planned", "used"].map((kind) => memoryColumn(kind)),
  {
    heading: "Physical vcores",
    cell: (it) => count(it.physical_vcores),
    sort: (it) => it.physical_vcores,
    number: true,
  },
  {
    heading: "Booked vcores",
    cell: (it) => count(it.booked_vcores),
    sort: (it) => it.booked_vcores,
    number: true,
  },
  {
    heading: "Planned CPU",
    cell: (it) => cores(it.planned_cpu_cores),
    sort: (it) => it.planned_cpu_cores,
    number: true,
  },
  {
    heading: "Used CPU",
    cell: (it) => cores(it.used_cpu_cores),
    sort: (it) => it.used_cpu_cores,
    number: true,
  },
  ...["network", "disk"].map((resource) => trafficColumn(resource)),
];

export class NodesView {
  title = "Nodes";
  // The list of thousands of nodes is megabytes.
  everyMs = 15_000;
  #nodes = [];
  #isPainted = false;
  #measure;
  #filter;
  #legend = legend();
  #told = element("p", { className: "told" });
  #table = new Table("Nodes", COLUMNS, { key: (it) => it.node, most: MOST_ROWS, isAlone: true });
  // The numbers below the pointer change all the time: a screen reader says those that a key asked for.
  #announced = element("p", { className: "unseen", role: "status" });
  #map = new HeatMap({
    onpoint: (cell, isByKey) => {
      setText(this.#told, cell ? this.#words(cell) : HOW);
      if (isByKey) {
        setText(this.#announced, this.#told.textContent);
      }
    },
    onopen: (cell) => {
      location.hash = nodeHref(cell.node.node);
    },
  });

  constructor() {
    const measures = Object.entries(MEASURES).map(([key, { name }]) => [key, name]);
    this.#measure = select(measures, "used_cpu", () => this.#show());
    this.#filter = element("input", {
      type: "search",
      oninput: () => this.#show(),
      placeholder: "part of a name or label",
    });
    this.root = element(
      "div",
      {},
      section(
        "Nodes",
        element("div", { className: "fields" }, field("Colour", this.#measure), field("Filter", this.#filter)),
        this.#legend.root,
        this.#map.root,
        this.#told,
        this.#announced,
        this.#table.root,
      ),
    );
  }

  async refresh(ask) {
    const answer = await ask("nodes", { limit: MOST_NODES });
    const answeredMs = performance.now();
    if (!answer) {
      return;
    }
    this.#nodes = answer.nodes.sort(
      (one, other) => collator.compare(one.label, other.label) || collator.compare(one.node, other.node),
    );
    this.#show();
    this.#markPainted(answeredMs);
  }

  close() {
    this.#map.close();
    this.#legend.close();
  }

  #show() {
    const wanted = this.#filter.value.trim().toLowerCase();
    const measure = MEASURES[this.#measure.value];
    const isFound = (node) => node.node.toLowerCase().includes(wanted) || node.label.toLowerCase().includes(wanted);
    const cells = this.#nodes.map((node) => ({
      node,
      share: measure.of(node),
      isSilent: isSilent(node),
      isFound: isFound(node),
    }));
    this.#map.show(cells, summary(cells, measure));
    this.#table.empty = this.#nodes.length ? "No node has this in its name or label." : "No node is registered.";
    this.#table.update(cells.filter((cell) => cell.isFound).map((cell) => cell.node));
  }

  #words({ node, share, isSilent: silent }) {
    const measure = MEASURES[this.#measure.value];
    const state = silent ? "; no fresh report" : node.report_is_fresh === null ? `; report ${NOT_KNOWN}` : "";
    const known = share === null ? "not known" : `${percent(share * 100)} (${measure.words(node)})`;
    return `${node.node}: ${measure.name} ${known}${state}`;
  }

  /** Measures once for each opening of the view how long it took from the answer to the painted map. */
  #markPainted(answeredMs) {
    if (this.#isPainted) {
      return;
    }
    this.#isPainted = true;
    // The first callback runs before the painting, the second one after it.
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        performance.measure(PAINTED, { start: answeredMs, detail: { nodes: this.#nodes.length } });
      }),
    );
  }
}

function memoryColumn(kind) {
  const value = (it) => it[`${kind}_memory_mb`];
  const heading = `${kind[0].toUpperCase()}${kind.slice(1)} memory`;
  return { heading, cell: (it) => gibOfMb(value(it)), sort: value, number: true };
}

function trafficColumn(resource) {
  const value = (it) => it[`used_${resource}_bytes_per_s`];
  return { heading: `Used ${resource}`, cell: (it) => perSecond(value(it)), sort: value, number: true };
}

function report(node) {
  if (node.report_is_fresh === null) {
    return "not known";
  }
  return node.report_age_ms === null ? "never" : duration(node.report_age_ms);
}

function summary(cells, measure) {
  const shares = cells.filter((it) => !it.isSilent && it.share !== null).map((it) => it.share);
  const silent = `${count(cells.filter((it) => it.isSilent).length)} silent`;
  const isAnswered = cells.every((it) => it.node.report_is_fresh !== null);
  const part = cells.length > MOST_ROWS ? `, ${MOST_ROWS} at once: the filter finds each` : "";
  const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
  const numbers = shares.length
    ? `${measure.name} ${percent(100 * mean)} in the mean, ${percent(100 * Math.max(...shares))} at most`
    : `${measure.name} of no node is known`;
  const reports = isAnswered ? silent : `which are silent is ${NOT_KNOWN}`;
  return `Heat map of ${counted(cells.length, "node")}: ${numbers}; ${reports}. The table below has the same nodes${part}.`;
}
