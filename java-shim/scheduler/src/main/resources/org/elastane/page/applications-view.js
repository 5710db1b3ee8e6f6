// The applications: those that wait, with the reason, and those that run; and the profiles.

import { count, counted, duration, gibOfMb, NOTHING, percent } from "./amounts.js";
import { element, field, section, setText } from "./element.js";
import { ProfilesSection } from "./profiles-section.js";
import { applicationHref, nodeHref } from "./routes.js";
import { Table } from "./table.js";

const MOST = 10_000;
const MOST_ROWS = 300;

const ID = {
  heading: "Application",
  cell: (it) => ({ text: it.application, href: applicationHref(it.application) }),
  sort: (it) => it.application,
  isName: true,
  isId: true,
};
const NAME = { heading: "Name", cell: (it) => it.name, sort: (it) => it.name, isLabel: true };
const USER = { heading: "User", cell: (it) => it.user, sort: (it) => it.user };
const QUEUE = { heading: "Queue", cell: (it) => it.queue, sort: (it) => it.queue };

const WAITING = [
  ID,
  NAME,
  USER,
  QUEUE,
  {
    heading: "Waits for",
    cell: (it) => counted(it.waiting.containers, "container"),
    sort: (it) => it.waiting.containers,
    number: true,
  },
  {
    heading: "For",
    cell: (it) => duration(it.waiting.for_ms),
    sort: (it) => it.waiting.for_ms,
    number: true,
  },
  { heading: "Limit of", cell: (it) => limitOf(it.waiting), sort: (it) => it.waiting.limit_of },
  { heading: "Why", cell: (it) => it.waiting.reason, wraps: true },
  {
    heading: "Planned start",
    cell: (it) => plannedStart(it.waiting.planned_start),
    sort: (it) => it.waiting.planned_start?.in_ms ?? Infinity,
    wraps: true,
  },
];

const RUNNING = [
  ID,
  NAME,
  USER,
  QUEUE,
  { heading: "Type", cell: (it) => it.type, sort: (it) => it.type },
  { heading: "YARN's state", cell: (it) => it.yarn_state.toLowerCase(), sort: (it) => it.yarn_state },
  {
    heading: "Containers",
    cell: (it) => count(it.running_containers),
    sort: (it) => it.running_containers,
    number: true,
  },
  {
    heading: "Booked memory",
    cell: (it) => gibOfMb(it.booked_memory_mb),
    sort: (it) => it.booked_memory_mb,
    number: true,
  },
  {
    heading: "Booked vcores",
    cell: (it) => count(it.booked_vcores),
    sort: (it) => it.booked_vcores,
    number: true,
  },
  {
    heading: "Progress",
    cell: (it) => percent(it.progress_percent),
    sort: (it) => it.progress_percent,
    number: true,
  },
];

export class ApplicationsView {
  title = "Applications";
  #applications = [];
  #waitingTotal = 0;
  #filter = element("input", {
    type: "search",
    oninput: () => this.#show(),
    placeholder: "user, queue, name, reason",
  });
  #waiting = new Table("Applications that wait", WAITING, {
    key: (it) => it.application,
    most: MOST_ROWS,
    isAlone: true,
  });
  #running = new Table("Applications that run", RUNNING, {
    key: (it) => it.application,
    most: MOST_ROWS,
    isAlone: true,
  });
  #hidden = element("p", { className: "note" });
  #profiles = new ProfilesSection();

  constructor() {
    this.root = element(
      "div",
      {},
      element("div", { className: "fields" }, field("Filter", this.#filter)),
      section("Waiting", this.#waiting.root, this.#hidden),
      section("Running", this.#running.root),
      this.#profiles.root,
    );
  }

  async refresh(ask) {
    const [answer, status] = await Promise.all([
      ask("applications", { limit: MOST }),
      ask("status", { nodes: "none" }),
      this.#profiles.refresh(ask),
    ]);
    if (answer) {
      this.#applications = answer.applications;
      this.#waitingTotal = status?.waiting_applications ?? 0;
      this.#show();
    }
  }

  #show() {
    const wanted = this.#filter.value.trim().toLowerCase();
    const found = this.#applications.filter((it) => textOf(it).includes(wanted));
    const empty = wanted ? "None that matches the filter." : "None to show.";
    this.#waiting.empty = this.#running.empty = empty;
    this.#waiting.update(found.filter((it) => it.waiting !== null));
    this.#running.update(found.filter((it) => it.waiting === null));
    const visible = this.#applications.filter((it) => it.waiting !== null).length;
    const hidden = this.#waitingTotal - visible;
    setText(this.#hidden, hidden > 0 ? `And ${counted(hidden, "application")} that you may not see.` : "");
    this.#profiles.filter(wanted);
  }
}

/** Who sets the limit that an application waits for, in words. */
export function limitOf(waiting) {
  return waiting.limit_of === "elastane" ? "Elastane" : "CapacityScheduler";
}

/** When and where an application's next containers are planned to start. */
export function plannedStart(planned) {
  if (!planned) {
    return NOTHING;
  }
  const { node, in_ms: first, last_in_ms: last, containers } = planned;
  const range = last > first ? `, the last of ${containers} in ${duration(last)}` : "";
  return [`in ${duration(first)} on `, { text: node, href: nodeHref(node) }, range];
}

function textOf({ application, name, user, queue, type, waiting }) {
  return [application, name, user, queue, type, waiting?.reason ?? ""].join("\n").toLowerCase();
}
