// The figures of a replay: together, by queue and by application.

import { errorWords, gainWords, isLarge, isWorse, scopeWords, seconds } from "./advice-words.js";
import { count, counted, moment, number } from "./amounts.js";
import { element, setText } from "./element.js";
import { applicationHref } from "./routes.js";
import { Table } from "./table.js";
import { Tiles } from "./tiles.js";

const MOST = 500;

const FIGURES = [
  ["Mean completion", "mean_completion_s", seconds],
  ["Makespan", "makespan_s", seconds],
  ["Mean wait", "mean_wait_s", seconds],
  ["Node-hours", "node_hours", number],
];

const saving = (it) => it.capacity_completion_s - it.enforce_completion_s;

function amount(heading, value, write = seconds) {
  return { heading, cell: (it) => write(value(it)), sort: value, number: true };
}

const QUEUE = { heading: "Queue", cell: (it) => it.queue, sort: (it) => it.queue };
const COMPLETIONS = [
  amount("Completion recorded", (it) => it.recorded_completion_s),
  amount("As CapacityScheduler", (it) => it.capacity_completion_s),
  amount("In mode enforce", (it) => it.enforce_completion_s),
  amount("Sooner by", saving),
];
const NODE_HOURS = [
  amount("Node-hours as CapacityScheduler", (it) => it.capacity_node_hours, number),
  amount("Node-hours in mode enforce", (it) => it.enforce_node_hours, number),
];
const CONTAINERS = [
  {
    heading: "Containers earlier",
    cell: (it) => `${count(it.containers_earlier)} of ${count(it.containers)}`,
    sort: (it) => it.containers_earlier,
    number: true,
  },
  amount("Earlier by", (it) => it.mean_earlier_s),
];

const QUEUES = [
  { ...QUEUE, isName: true, isLabel: true },
  amount("Applications", (it) => it.applications, count),
  ...COMPLETIONS,
  ...CONTAINERS,
  ...NODE_HOURS,
];
const APPLICATIONS = [
  {
    heading: "Application",
    cell: (it) => ({ text: it.id, href: applicationHref(it.id) }),
    sort: (it) => it.id,
    isName: true,
    isId: true,
  },
  { heading: "Name", cell: (it) => it.name, sort: (it) => it.name, isLabel: true },
  { heading: "User", cell: (it) => it.user, sort: (it) => it.user },
  QUEUE,
  amount("Submitted", (it) => it.submitted_ms, moment),
  ...COMPLETIONS,
  ...CONTAINERS,
  ...NODE_HOURS,
];

export class AdviceResult {
  #problem = element("p");
  #lead = element("b");
  #others = element("span");
  #tiles = new Tiles();
  #error = element("p");
  #scope = element("p", { className: "note" });
  #queues = new Table("Mean completion of the applications, by queue", QUEUES, { key: (it) => it.queue });
  #applications = new Table("Completion of each application, the greatest saving first", APPLICATIONS, {
    key: (it) => it.id,
    most: MOST,
  });
  #more = element("p", { className: "note" });
  #assumed = element("ul");
  #figures = element(
    "div",
    {},
    element("p", {}, this.#lead, this.#others),
    this.#tiles.root,
    this.#error,
    this.#scope,
    this.#queues.root,
    this.#more,
    element("div", { className: "tall" }, this.#applications.root),
  );
  #assumptions = element("details", {}, element("summary", {}, "What the replay assumes"), this.#assumed);
  root = element("div", { hidden: true }, this.#problem, this.#figures, this.#assumptions);

  show(advice) {
    const { problem, recorded, capacity, enforce, more_applications: more, assumptions } = advice;
    this.root.hidden = false;
    setText(this.#problem, problem ?? "");
    this.#problem.hidden = !problem;
    this.#figures.hidden = !capacity || !enforce;
    if (!this.#figures.hidden) {
      const [lead, others] = gainWords(advice);
      setText(this.#lead, lead);
      setText(this.#others, others);
      this.#tiles.show(FIGURES.map((it) => tile(it, recorded, capacity, enforce)));
      setText(this.#error, errorWords(advice));
      this.#error.className = isLarge(advice.replay_error) ? "error" : "note";
      setText(this.#scope, scopeWords(advice));
    }
    this.#queues.update(advice.queues);
    this.#applications.update(advice.by_application);
    const listed = advice.by_application.length;
    const all = counted(listed + more, "application");
    setText(this.#more, more > 0 ? `Of ${all}, the ${count(listed)} with the greatest saving are listed.` : "");
    this.#assumed.replaceChildren(...assumptions.map((it) => element("li", {}, it)));
    this.#assumptions.hidden = assumptions.length === 0;
  }
}

function tile([name, figure, write], recorded, capacity, enforce) {
  return {
    name: `${name} in mode enforce`,
    value: write(enforce[figure]),
    about: `${write(capacity[figure])} as CapacityScheduler, ${write(recorded[figure])} recorded`,
    isBad: isWorse(capacity, enforce, figure),
  };
}
