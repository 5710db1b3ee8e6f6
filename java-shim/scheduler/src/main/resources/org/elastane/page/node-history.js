// The last 15 minutes of a node's history, with an empty step in each time that is not known.

export const SHOWN_MS = 900_000;
// Steps are 15 to 20 s apart; after a longer pause lines and areas begin anew.
const GAP_MS = 45_000;

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
  const order = [];
  ages.forEach((age, step) => {
    if (age > SHOWN_MS) {
      return;
    }
    if (order.length > 0 && ages[step - 1] - age > GAP_MS) {
      order.push(null);
    }
    order.push(step);
  });
  return order;
}
