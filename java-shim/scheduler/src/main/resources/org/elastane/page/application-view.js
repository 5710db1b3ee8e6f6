// One application: its facts, why it waits, its containers, and what was decided about it.

import { counted, duration, gibOfMb, IS_NOT_KNOWN, moment, NOT_KNOWN, percent } from "./amounts.js";
import { expectedEnd, expectedStart, limitOf, plannedStart } from "./applications-view.js";
import { containersTable } from "./containers-table.js";
import { decisionsTable } from "./decisions-table.js";
import { element, section } from "./element.js";
import { LimitChangesTable } from "./limit-changes-table.js";
import { LimitsTable } from "./limits-table.js";
import { decisionsHref, nodeHref } from "./routes.js";
import { Table } from "./table.js";

const DECISIONS = 50;

export class ApplicationView {
  #application;
  #facts = new Table(
    "Facts",
    [
      { heading: "Fact", cell: (it) => it.name, isName: true },
      { heading: "Value", cell: (it) => it.value, wraps: true },
    ],
    { key: (it) => it.name, empty: "Nothing is known yet.", isAlone: true },
  );
  #containers = containersTable(false);
  #limits = new LimitsTable();
  #limitChanges = new LimitChangesTable();
  #decisions = decisionsTable({ without: "application" });

  constructor({ id }) {
    this.#application = id;
    this.title = id;
    this.root = element(
      "div",
      {},
      section(`Application ${id}`, this.#facts.root),
      section("Containers", this.#containers.root),
      section("Limits", this.#limits.root),
      section("Changes of limits", this.#limitChanges.root),
      section(
        "Latest decisions",
        this.#decisions.root,
        element("p", {}, element("a", { href: decisionsHref({ application: id }) }, "All its decisions")),
      ),
      // YARN's page is beside this one, behind the same proxy if there is one.
      element(
        "p",
        {},
        element("a", { href: `../cluster/app/${encodeURIComponent(id)}` }, "YARN's page of this application"),
      ),
    );
  }

  async refresh(ask) {
    const id = this.#application;
    const [application, decided] = await Promise.all([
      ask(`applications/${encodeURIComponent(id)}`),
      ask("decisions", { application: id, limit: DECISIONS }),
    ]);
    if (application) {
      this.#facts.update(facts(application));
      this.#containers.empty = application.containers ? "None." : IS_NOT_KNOWN;
      this.#containers.update(application.containers ?? []);
      this.#limits.update(application.containers);
      this.#limitChanges.update(application.containers);
    }
    if (decided) {
      this.#decisions.update(decided.decisions);
    }
  }
}

function facts(it) {
  const all = [
    ["Name", it.name],
    ["User", it.user],
    ["Queue", it.queue],
    ["Type", it.type],
    ["State", it.state ?? NOT_KNOWN],
    ["YARN's state", it.yarn_state.toLowerCase()],
    ["Submitted", moment(it.submitted_ms)],
    ["Progress", percent(it.progress_percent)],
    [
      "Booked",
      `${gibOfMb(it.booked_memory_mb)} and ${counted(it.booked_vcores, "vcore")} in ${counted(it.running_containers, "container")}`,
    ],
  ];
  const { waiting } = it;
  if (!waiting) {
    all.push(["Expected end", expectedEnd(it.predicted_end)]);
  } else {
    all.push(
      ["Waits for", `${counted(waiting.containers, "container")}, for ${duration(waiting.for_ms)}`],
      ["Why", waiting.reason],
      ["Limit of", limitOf(waiting)],
      ["Where", waiting.node ? { text: waiting.node, href: nodeHref(waiting.node) } : "all nodes"],
      ["Expected start", expectedStart(waiting.expected_start)],
      ["Planned start", plannedStart(waiting.planned_start)],
    );
    if (waiting.capacity_scheduler_says) {
      all.push(["CapacityScheduler says", waiting.capacity_scheduler_says]);
    }
    if (waiting.deadline) {
      all.push(["Deadline", deadline(waiting.deadline)]);
    }
  }
  return all.map(([name, value]) => ({ name, value }));
}

function deadline({ at_ms: at, chance }) {
  return chance === null ? moment(at) : `${moment(at)}, met with a probability of ${percent(100 * chance)}`;
}
