// What the charts of one container show, by resource: what it used beside its plan and its limits over 15 minutes.

import { cores, duration, GIBIBYTE, isNumber, latest, MEBIBYTE, memory, perSecond } from "./amounts.js";
import { limitAmount, limitName } from "./limit-amounts.js";
import { amountAt, limitSteps } from "./limit-steps.js";
import { recent, SHOWN_MS } from "./node-history.js";

// Behind the next change of a limit, so that its new amount is a line.
const AFTER_NEXT_MS = 60_000;
const WEIGHT = "--booked";
const BOUND = "--bookable";

/** `unit` is the amount that the chart writes as 1, and `write` takes whole amounts. */
export const RESOURCES = [
  { title: "Memory, GiB", name: "memory_bytes", unit: GIBIBYTE, write: memory, limits: { memory_bytes: BOUND } },
  {
    title: "CPU, cores",
    name: "cpu_cores",
    unit: 1,
    write: cores,
    limits: { cpu_weight_cores: WEIGHT, cpu_cap_cores: BOUND },
  },
  {
    title: "Network, MiB/s",
    name: "network_bytes_per_s",
    unit: MEBIBYTE,
    write: perSecond,
    limits: { network_weight_bytes_per_s: WEIGHT, network_cap_bytes_per_s: BOUND },
  },
  {
    title: "Disks, MiB/s",
    name: "disk_bytes_per_s",
    unit: MEBIBYTE,
    write: perSecond,
    limits: { disk_cap_bytes_per_s: BOUND },
  },
];

/** What the chart of a resource shows of the container `chosen`; `running` is undefined of one that has ended. */
export function shownOf({ name, unit, write, limits }, history, chosen, running, now) {
  const { age_ms: ages, containers } = recent(history, name);
  const { used, planned } = containers.find(({ container }) => container === chosen);
  const steps = running ? Object.keys(limits).map((limit) => [limit, limitSteps(running, limit, now)]) : [];
  const past = ages.map((age) => now - age);
  const points = { used: past.map((at, i) => [at, used[i]]), planned: past.map((at, i) => [at, planned[i]]) };
  if (running) {
    points.planned.push([now, running.planned[name]]);
  }
  // Newer than the last step of the history.
  if (running?.measured) {
    points.used.push([now - running.measured.age_ms, running.measured.used[name]]);
  }
  const known = [...points.used, ...points.planned].map(([at]) => at);
  const times = timesOf(known, steps, now);
  const inUnit = (value) => (isNumber(value) ? value / unit : value);
  const lineOf = (label, colour, of) => {
    const values = valuesAt(times, of).map(inUnit);
    return { label, colour, values, own: carried(values) };
  };
  const series = [lineOf("Used", "--used", points.used), lineOf("Planned", "--planned", points.planned)];
  for (const [limit, changes] of steps.filter(([, it]) => it.length > 0)) {
    const values = times.map((at) => inUnit(amountAt(changes, at)));
    series.push(...limitLines(capitalized(nameOf({ limit })), limits[limit], times, values, changes, now));
  }
  return { times, series, now, since: now - SHOWN_MS, sentence: sentence(series, running, limits, unit, write) };
}

/** The line of a limit until now, and, if it changes within the plan, from now on. */
function limitLines(label, colour, times, values, changes, now) {
  const between = (from, to) => values.map((value, i) => (times[i] >= from && times[i] <= to ? value : null));
  const next = changes.at(-1).at;
  const lines = [{ label, colour, values: between(-Infinity, now), isStepped: true }];
  if (next > now) {
    const own = between(next, Infinity);
    lines.push({ label: `${label}, next`, colour, values: between(now, Infinity), own, isStepped: true, dash: true });
  }
  return lines;
}

/** The moments of the history and of the limits' changes, without those before the chart's beginning. */
function timesOf(known, steps, now) {
  const changes = steps.flatMap(([, it]) => it.map(({ at }) => at)).filter((at) => at > now - SHOWN_MS);
  const last = Math.max(...changes, now);
  const all = [...known, ...changes, ...(last > now ? [last + AFTER_NEXT_MS] : [])];
  return [...new Set(all)].sort((one, other) => one - other);
}

/** Undefined where nothing is known, across which the line goes on; at null it is interrupted. */
function valuesAt(times, points) {
  const known = new Map(points);
  return times.map((at) => known.get(at));
}

/** The last value, where only a limit changes; null after all that is known. */
function carried(values) {
  const end = values.findLastIndex((value) => value !== undefined);
  let last = null;
  return values.map((value, index) => {
    last = value === undefined ? last : value;
    return index <= end ? last : null;
  });
}

function sentence([used, planned], running, limits, unit, write) {
  const said = (value) => (value === null ? "not known" : write(value * unit));
  const all = [`used ${said(latest(used.values))}`, `planned ${said(latest(planned.values))}`];
  if (!running) {
    return `Before it ended: ${all.join(", ")}. Limits are known while a container runs.`;
  }
  const current = (running.limits ?? []).filter(({ limit }) => limit in limits);
  const inForce = current.filter((it) => it.planned !== null);
  all.push(...inForce.map((it) => `${nameOf(it)} ${limitAmount(it, it.planned)}`));
  const next = current.filter((it) => it.next_in_ms !== null).map(nextOf);
  return `Latest: ${[...all, ...(inForce.length > 0 ? [] : ["no limit"])].join(", ")}${next.join("")}.`;
}

function nextOf(limit) {
  const amount = limit.next === null ? `no ${nameOf(limit)}` : `${nameOf(limit)} ${limitAmount(limit, limit.next)}`;
  return `; ${amount} in ${duration(limit.next_in_ms)}`;
}

/** Such as "memory limit" and "CPU weight". */
function nameOf(limit) {
  const name = limitName(limit);
  return name === "memory" ? "memory limit" : name;
}

function capitalized(text) {
  return text[0].toUpperCase() + text.slice(1);
}
