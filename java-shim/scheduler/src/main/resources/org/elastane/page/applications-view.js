// The applications: those that wait, with the reason, and those that run; and the profiles.

import { count, counted, duration, gibOfMb, IS_NOT_KNOWN, moment, NOT_KNOWN, NOTHING, percent } from "./amounts.js";
import { element, field, section, setText } from "./element.js";
import { Problem } from "./fetching.js";
import { ProfilesSection } from "./profiles-section.js";
import { applicationHref, nodeHref } from "./routes.js";
import { Table } from "./table.js";

// For a filter all are asked for, as its text may be in any field.
const ALL = 10_000;
const MOST_ROWS = 300;
const NONE = { applications: [], total: 0, hidden: 0 };

const SETTINGS = { key: (it) => it.application, most: MOST_ROWS, isAlone: true };

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
  { heading: "Why", cell: (it) => why(it.waiting), wraps: true },
  {
    heading: "Expected start",
    cell: (it) => expectedStart(it.waiting.expected_start),
    sort: (it) => it.waiting.expected_start?.in_ms ?? Infinity,
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
  {
    heading: "Expected end",
    cell: (it) => expectedEnd(it.predicted_end),
    sort: (it) => it.predicted_end?.at_ms ?? Infinity,
    wraps: true,
  },
];

export class ApplicationsView {
  title = "Applications";
  #found = { waiting: NONE, running: NONE };
  #isStateKnown = true;
  #filter;
  #tables = {
    waiting: new Table("Applications that wait", WAITING, SETTINGS),
    running: new Table("Applications that run", RUNNING, SETTINGS),
  };
  #hidden = {
    waiting: element("p", { className: "note" }),
    running: element("p", { className: "note" }),
  };
  #unknown = element("p", { className: "note" }, `Which of these wait is ${NOT_KNOWN}.`);
  #profiles = new ProfilesSection();

  constructor(route, refreshNow) {
    this.#filter = element("input", {
      type: "search",
      oninput: () => this.#filtered(refreshNow),
      placeholder: "user, queue, name, reason",
    });
    this.#unknown.hidden = true;
    this.root = element(
      "div",
      {},
      element("div", { className: "fields" }, field("Filter", this.#filter)),
      section("Waiting", this.#tables.waiting.root, this.#hidden.waiting),
      section("Running", this.#unknown, this.#tables.running.root, this.#hidden.running),
      this.#profiles.root,
    );
  }

  async refresh(ask) {
    const limit = this.#wanted() ? ALL : MOST_ROWS;
    const [waiting, running] = await Promise.all([
      // Status 503: which ones wait is not known.
      ask("applications", { state: "waiting", limit }, [503]),
      ask("applications", { state: "running", limit }, [503]),
      this.#profiles.refresh(ask),
    ]);
    if (waiting instanceof Problem || running instanceof Problem) {
      const answer = await ask("applications", { limit });
      if (answer) {
        this.#isStateKnown = false;
        this.#found = { waiting: NONE, running: answer };
      }
    } else if (waiting && running) {
      this.#isStateKnown = true;
      this.#found = { waiting, running };
    }
    this.#show();
  }

  #wanted() {
    return this.#filter.value.trim().toLowerCase();
  }

  #filtered(refreshNow) {
    this.#show();
    if (this.#wanted() && (this.#profiles.isPart || Object.values(this.#found).some(isPart))) {
      refreshNow();
    }
  }

  #show() {
    const wanted = this.#wanted();
    this.#unknown.hidden = this.#isStateKnown;
    for (const [state, { applications, total, hidden }] of Object.entries(this.#found)) {
      const matching = applications.filter((it) => textOf(it).includes(wanted));
      const none = isPart({ applications, total }) ? "They are asked for." : "None that matches the filter.";
      const empty = wanted ? none : "None to show.";
      const table = this.#tables[state];
      table.empty = this.#isStateKnown || state === "running" ? empty : IS_NOT_KNOWN;
      table.update(matching, wanted ? matching.length : total);
      const isSaid = hidden > 0;
      setText(this.#hidden[state], isSaid ? `And ${counted(hidden, "application")} that you may not see.` : "");
    }
    this.#profiles.filter(wanted);
  }
}

/** Whether some were not asked for. */
function isPart({ applications, total }) {
  return applications.length < total;
}

/** Who sets the limit that an application waits for, in words. */
export function limitOf(waiting) {
  return waiting.limit_of === "elastane" ? "Elastane" : "CapacityScheduler";
}

/** When an application's next container is expected to start. */
export function expectedStart(expected) {
  if (!expected) {
    return NOTHING;
  }
  const about = expected.is_rough ? "very roughly" : "about";
  return `in ${about} ${duration(expected.in_ms)}`;
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

/** When an application is expected to end: the median, and the range between the 10 % and the 90 % quantile. */
export function expectedEnd(predicted) {
  if (!predicted) {
    return NOTHING;
  }
  const { at_ms: at, earliest_ms: earliest, latest_ms: latest, runs } = predicted;
  const range = `with a probability of 80 % between ${moment(earliest)} and ${moment(latest)}`;
  return `${moment(at)}, ${range}, by ${counted(runs, "earlier run")}`;
}

/** CapacityScheduler's own words, where it says something. */
function why(waiting) {
  return waiting.capacity_scheduler_says ?? waiting.reason;
}

function textOf({ application, name, user, queue, type, waiting }) {
  return [application, name, user, queue, type, waiting ? why(waiting) : ""].join("\n").toLowerCase();
}
