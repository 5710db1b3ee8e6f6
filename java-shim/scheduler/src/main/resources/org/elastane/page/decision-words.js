// What a decision says, in words.

import { counted, isNumber, memory, moment, number, percent } from "./amounts.js";

const OF_PLACED = {
  fits: "fits by demand",
  starving: "by request, since it starved",
  owed: "by request, since its queue is owed",
  "owed-flow": "by request, since its queue is owed",
  "capacity-scheduler": "by CapacityScheduler",
  "not-asked": "by CapacityScheduler; the core was not asked",
  "ran-already": "it ran already, as after a restart or a change of its size",
};

const MIGRATION = {
  leaves: "its executor leaves: it takes no more tasks",
  "not-handled": "stays: its JVM does not handle SIGPWR (spark.decommission.enabled is off, or it is young)",
  "no-executor": "stays: it is no Spark executor",
  failed: "stays: its processes could not be examined or signalled",
};

const WRITERS = {
  placed: (it) => [
    OF_PLACED[it.reason] ?? it.reason,
    it.application_master ? "application master" : "",
    basis(it),
    `requests ${memory(it.memory_bytes)}, ${counted(it.vcores, "vcore")}`,
    `node then booked ${memory(it.booked_memory_bytes)} of ${memory(it.physical_memory_bytes)} physical`,
    isNumber(it.score) ? `score ${score(it.score)}${beside(it)}` : "",
  ],
  refused: (it) => [it.reason],
  finished: () => ["the container ended"],
  bookable: (it) => [`${percent(100 * it.ratio)} of the registered size`, it.reason],
  preemption: (it) => [
    it.cause === "capacity-scheduler" ? "by CapacityScheduler" : "",
    it.outcome,
    it.reason,
    isNumber(it.resident_bytes) ? `${memory(it.resident_bytes)} resident, ${memory(it.short_bytes)} short` : "",
  ],
  migration: (it) => [MIGRATION[it.state] ?? it.state, it.reason],
  reprovision: (it) => [
    it.what,
    it.slow,
    isNumber(it.slowness) ? `slowness ${number(it.slowness)}` : "",
    factors(it.factors),
    it.reason,
  ],
  learned: (it) => [it.outcome, counted(it.runs, "run"), `profile ${it.profile}`],
  deadline: (it) => [
    it.state,
    `deadline ${moment(it.deadline_ms)}`,
    isNumber(it.chance) ? `probability ${percent(100 * it.chance)}` : "",
  ],
};

/** The kinds that can be asked for. */
export const KINDS = Object.keys(WRITERS);

/** The fields of a decision, without those that have columns of their own. */
export function inWords(decision) {
  const write = WRITERS[decision.kind] ?? ((it) => [it.reason]);
  return write(decision).filter(Boolean).join("; ");
}

/** All text of a decision in lower case, for the search. */
export function textOf(decision) {
  const { kind, application, application_name: name, container, node, queue } = decision;
  return [kind, application, name, container, node, queue, inWords(decision)].join("\n").toLowerCase();
}

function basis({ profile, by_others: byOthers }) {
  if (profile) {
    return `planned by profile ${profile}`;
  }
  return byOthers ? "planned by other applications" : "planned by its request";
}

/** Scores are small, and few differ in their first digits. */
function score(value) {
  return value.toFixed(4);
}

const VERDICTS = {
  "would-delay-another": ", would delay a planned start",
  "at-limit": ", at a limit of its queue or user",
};

/** What else was considered for the node, the least score first. */
function beside({ application, considered = [] }) {
  const others = considered.filter((one) => one.application !== application);
  const words = others.map(
    (one) => `${one.application ?? "another application"} (${score(one.score)}${VERDICTS[one.verdict] ?? ""})`,
  );
  return words.length > 0 ? `, beside ${words.join(", ")}` : "";
}

function factors(values) {
  if (!values) {
    return "";
  }
  const [cpu, memoryFactor, network, disk] = values.map(number);
  return `corrected by CPU ${cpu}, memory ${memoryFactor}, network ${network}, disk ${disk}`;
}
