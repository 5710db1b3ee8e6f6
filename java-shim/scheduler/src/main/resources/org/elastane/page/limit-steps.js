// A container's limits over time, from its latest changes and from what its plan has next.

/** The number of changes that the ResourceManager keeps of a container. */
const KEPT_CHANGES = 6;

/**
 * The moments from which on a limit has an amount, oldest first, as `{ at, amount }`; null is no limit. Before
 * the first of them the limit is not known. None if the container never had this limit, or no agent has reported.
 */
export function limitSteps({ limits, limit_changes: changes, running_for_ms: runningFor }, name, now) {
  if (limits === null) {
    return [];
  }
  const limit = limits.find((it) => it.limit === name);
  const planned = limit?.planned ?? null;
  const own = changes
    .filter((it) => it.limit === name)
    .toReversed()
    .map(({ at_ms: at, from, to }) => ({ at: Math.min(at, now), from, to }))
    .sort((one, other) => one.at - other.at);
  // A full list may lack older changes, so nothing is known before its oldest one.
  const since = changes.length < KEPT_CHANGES ? now - runningFor : Math.min(now, changes.at(-1).at_ms);
  const steps = [
    { at: Math.min(since, own[0]?.at ?? now), amount: own.length > 0 ? own[0].from : planned },
    ...own.map(({ at, to }) => ({ at, amount: to })),
    // Changes by less than a tenth are not in the list.
    { at: now, amount: planned },
  ];
  if (limit && limit.next_in_ms !== null) {
    steps.push({ at: now + limit.next_in_ms, amount: limit.next });
  }
  return steps.some(({ amount }) => amount !== null) ? steps : [];
}

/** The amount of the last step until a moment; null without a limit, or before the first step. */
export function amountAt(steps, moment) {
  return steps.findLast(({ at }) => at <= moment)?.amount ?? null;
}
