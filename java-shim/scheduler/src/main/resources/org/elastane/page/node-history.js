// The last 15 minutes of a node's history, with an empty step in each time that is not known.

export const SHOWN_MS = 900_000;
// After a pause of so many usual steps lines and areas begin anew. A step takes 20 s, or as long as a report.
const GAP_STEPS = 2.5;

/** What the containers, and the hidden ones together, used of a resource, and what was planned. */
export function recent(history, field) {
  const { age_ms: ages, containers, hidden } = history ?? { age_ms: [], containers: [], hidden: {} };
  const order = stepsOf(ages);
  const values = (all) => order.map((step) => all?.[step] ?? null);
  const columns = (it) => ({ used: values(it?.[field]), planned: values(it?.[`planned_${field}`]) });
  return {
    // An empty step lies directly before the one that it is in front of.
    age_ms: order.map((step, i) => (step === null ? ages[order[i + 1]] + 1 : ages[step])),
    containers: containers.map((it) => ({ container: it.container, ...columns(it) })),
    hidden: columns(hidden),
  };
}

/** The indexes of the steps to show, with null in each pause. */
function stepsOf(ages) {
  const lengths = ages.slice(1).map((age, step) => ages[step] - age);
  const usual = lengths.toSorted((one, other) => one - other)[Math.floor(lengths.length / 2)] ?? 0;
  const order = [];
  ages.forEach((age, step) => {
    if (age > SHOWN_MS) {
      return;
    }
    if (order.length > 0 && ages[step - 1] - age > GAP_STEPS * usual) {
      order.push(null);
    }
    order.push(step);
  });
  return order;
}
