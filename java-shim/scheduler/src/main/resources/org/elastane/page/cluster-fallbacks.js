// What works less well than it could: each with its number, what it means and what to do.

import { count, isNumber, moment, NOT_KNOWN } from "./amounts.js";
import { element } from "./element.js";
import { applicationHref, decisionsHref, nodeHref } from "./routes.js";
import { Table } from "./table.js";

const REFUSALS_NOT_KNOWN = `The latest refusals are ${NOT_KNOWN}.`;

/** What counts from the opening of the core: field of the status, name, and words. */
const COUNTS = [
  [
    "refused_commits",
    "Commits refused by the core",
    "CapacityScheduler proposed a container, and the node's plan had no room. It is tried again elsewhere or later.",
  ],
  [
    "refused_reports",
    "Reports refused",
    "An agent's report was not accepted: the ResourceManager's log has the reason, once for each node.",
  ],
  [
    "foreseen_by_request",
    "Predictions that fell back to the request",
    "Earlier runs are known, and the prediction from them was not good enough.",
  ],
  ["memory_preemptions", "Memory preemptions", "Containers that were ended because their node was short of memory."],
  ["deadlines_missed", "Deadlines missed", "Applications that ended after their deadline, or failed."],
  ["samples_lost", "Samples lost", "The depository could not be written for too long: look at its disk."],
  ["run_saves_failed", "Runs not saved", "Saving an ended run failed: look at the depository's disk."],
  [
    "checkpoints_failed",
    "Checkpoints not saved",
    "Records of running applications were not saved: look at the depository's disk.",
  ],
  ["journal_dropped", "Journal records dropped", "The journal could not be written fast enough: look at its disk."],
  ["depository_failures", "Failed openings of the depository", "The ResourceManager's .out file names the cause."],
  ["journal_failures", "Failures of the journal", "The ResourceManager's .out file names the cause."],
  ["learning_failures", "Failures of learning", "Should be 0: please report the ResourceManager's .out file."],
  ["planning_failures", "Failures of planning", "Should be 0: please report the ResourceManager's .out file."],
];

export class ClusterFallbacks {
  #table = new Table(
    "Where CapacityScheduler decides alone, or something was lost",
    [
      { heading: "What", cell: (it) => (it.isNow ? { text: it.what } : it.what), isName: true, wraps: true },
      { heading: "Number", cell: (it) => it.number, number: true },
      { heading: "Since", cell: (it) => (it.isNow ? "now" : "the core was opened") },
      { heading: "What it means", cell: (it) => it.words, wraps: true },
    ],
    { key: (it) => it.what, empty: "Nothing: all nodes report and decide, and nothing was refused or lost." },
  );

  #refusals = new Table(
    "The latest refusals",
    [
      { heading: "Time", cell: (it) => moment(it.time_ms) },
      {
        heading: "Application",
        cell: (it) => (it.application ? { text: it.application, href: applicationHref(it.application) } : ""),
        isId: true,
      },
      {
        heading: "Node",
        cell: (it) => (it.node ? { text: it.node, href: nodeHref(it.node) } : ""),
        isId: true,
      },
      { heading: "Reason", cell: (it) => it.reason ?? "", wraps: true },
    ],
    { key: (it) => it.number },
  );

  root = element(
    "div",
    {},
    this.#table.root,
    this.#refusals.root,
    element(
      "p",
      {},
      "All of them: ",
      element("a", { href: decisionsHref({ kind: "refused" }) }, "refusals"),
      ", ",
      element("a", { href: decisionsHref({ kind: "bookable" }) }, "nodes raised and lowered"),
      ", ",
      element("a", { href: decisionsHref({ kind: "preemption" }) }, "preemptions"),
      ".",
    ),
  );

  /** `refusals` is null while the core gives no answer. */
  show(status, cluster, refusals) {
    const counts = COUNTS.filter(([field]) => status[field] > 0).map(([field, what, words]) => ({
      what,
      number: count(status[field]),
      words,
    }));
    this.#table.update([...presentFallbacks(status, cluster), ...counts]);
    this.#refusals.empty = refusals ? "No refusal among the latest decisions." : REFUSALS_NOT_KNOWN;
    this.#refusals.update(refusals ?? []);
  }
}

function presentFallbacks(status, cluster) {
  const nowAre = [];
  const add = (what, number, words) => nowAre.push({ what, number, words, isNow: true });
  if (!status.in_service) {
    add(
      "The core is out of service",
      "",
      "Every node returns to its physical size, and CapacityScheduler decides alone. Nothing is ended. The ResourceManager's log has the cause.",
    );
  } else if (status.mode === undefined) {
    add(
      "The status is out of service",
      "",
      "The core decides, and cannot be asked. The ResourceManager's log has the cause.",
    );
  }
  if (status.agents_silent > 0) {
    add(
      "Nodes with a silent agent",
      count(status.agents_silent),
      "Without a fresh report a node has its physical size, and CapacityScheduler alone places containers there.",
    );
  }
  const observed = cluster.nodes - status.nodes_enforced;
  if (isNumber(observed) && observed > 0) {
    add("Nodes in mode observe", count(observed), "Decisions for these nodes are recorded, and none is applied.");
  }
  if (status.depository_in_service === false) {
    add(
      "The depository is out of service",
      "",
      "A substitute takes its place and is merged later. If the disk is the cause, earlier runs are not known meanwhile.",
    );
  }
  if (status.journal_in_service === false) {
    add("The journal is out of service", "", "Decisions go on, and are not written to the journal's file.");
  }
  if (status.learner_alive === false) {
    add(
      "The learner has ended",
      "",
      "Applications are planned by what was learned before. Restart the ResourceManager, or fail over.",
    );
  }
  return nowAre;
}
