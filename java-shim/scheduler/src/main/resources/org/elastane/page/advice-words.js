// What a replay says, in sentences.

import { count, counted, duration, isNumber, moment, NOTHING, percent } from "./amounts.js";

/** A smaller difference is none. */
const SAME = 0.005;
/** From this error on, the figures have to be read with care. */
const LARGE_ERROR = 0.15;
const SHORT_S = 10;

/** A length of time or a saving, which may be negative. */
export function seconds(value) {
  if (!isNumber(value)) {
    return NOTHING;
  }
  const size = Math.abs(value);
  const words = size < SHORT_S ? `${Number(size.toFixed(1))} s` : duration(1000 * size);
  return value < 0 && words !== "0 s" ? `−${words}` : words;
}

/** What mode enforce would win over CapacityScheduler, as both are replayed: the sentence that leads, and the others. */
export function gainWords(advice) {
  const { applications, containers, containers_earlier: earlier, capacity, enforce } = advice;
  const completion = changed(capacity, enforce, "mean_completion_s", {
    less: "sooner",
    more: "later",
    same: "neither sooner nor later",
  });
  const makespan = changed(capacity, enforce, "makespan_s", {
    less: "shorter",
    more: "longer",
    same: "as long",
  });
  const nodeHours = changed(capacity, enforce, "node_hours", {
    less: "fewer node-hours",
    more: "more node-hours",
    same: "as many node-hours",
  });
  const by = earlier > 0 ? `, by ${seconds(advice.mean_earlier_s)} on average` : "";
  const lead =
    `Mode enforce would complete ${counted(applications, "application")} ${completion} on average: ` +
    `in ${seconds(enforce.mean_completion_s)} instead of ${seconds(capacity.mean_completion_s)}.`;
  const others =
    ` The makespan would be ${makespan}. ` +
    `${count(earlier)} of ${counted(containers, "container")} would start at least 1 s earlier${by}. ` +
    `Containers would occupy nodes for ${nodeHours}.`;
  return [lead, others];
}

/** Whether mode enforce would make a figure worse. */
export function isWorse(capacity, enforce, figure) {
  return ratio(capacity, enforce, figure) >= SAME;
}

/** How far the replay as CapacityScheduler is from what happened. */
export function errorWords({ replay_error: error }) {
  if (!error) {
    return "The error of the replay is not known.";
  }
  const completion = difference(error.mean_completion, {
    less: "sooner than recorded",
    more: "later than recorded",
    same: "as recorded",
  });
  const makespan = difference(error.makespan, {
    less: "shorter than recorded",
    more: "longer than recorded",
    same: "as recorded",
  });
  const care = isLarge(error) ? ` The error is above ${percent(100 * LARGE_ERROR)}: read the figures with care.` : "";
  return (
    `The replay's error: as CapacityScheduler, applications complete ${completion} on average, ` +
    `and the makespan is ${makespan}.${care}`
  );
}

export function isLarge(error) {
  return Boolean(error) && Math.max(Math.abs(error.mean_completion), Math.abs(error.makespan)) > LARGE_ERROR;
}

/** Which applications the figures are about. */
export function scopeWords({ since_ms: since, applications, containers, ...advice }) {
  const counts = [
    ["Not compared", advice.not_compared, "that began before the record or had not ended"],
    ["Left out", advice.left_out, "without a measured container, or too large for any node"],
    ["Known by one run", advice.first_runs, "that had not run before"],
  ];
  const others = counts
    .filter(([, value]) => value > 0)
    .map(([what, value, which]) => ` ${what}: ${counted(value, "application")} ${which}.`);
  const compared = `${counted(applications, "application")} with ${counted(containers, "container")}`;
  return `Compared: ${compared} that ended since ${moment(since)}.${others.join("")}`;
}

function changed(capacity, enforce, figure, words) {
  return difference(ratio(capacity, enforce, figure), words);
}

/** 0 where there is nothing to compare with. */
function ratio(capacity, enforce, figure) {
  return capacity[figure] > 0 ? enforce[figure] / capacity[figure] - 1 : 0;
}

/** Such as "5.1 % shorter". */
function difference(value, { less, more, same }) {
  if (Math.abs(value) < SAME) {
    return same;
  }
  return `${percent(100 * Math.abs(value))} ${value < 0 ? less : more}`;
}
