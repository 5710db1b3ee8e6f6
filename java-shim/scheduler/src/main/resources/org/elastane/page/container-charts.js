// One container of a node: a choice of it, and a chart for each resource.

import { IS_NOT_KNOWN, isNumber } from "./amounts.js";
import { Chart } from "./chart.js";
import { RESOURCES, shownOf } from "./container-lines.js";
import { element, field, select, setOptions, setText } from "./element.js";

/** A choice of the container, and its charts. */
export class ContainerCharts {
  #node = null;
  #chosen = select([], "", () => this.#show());
  #note = element("p", { className: "note" });
  #charts = RESOURCES.map(({ title, unit, write }) => {
    return new Chart(title, { format: (value) => write(value * unit), sync: "container" });
  });
  // Both have a display of their own, which would show them although they are hidden.
  #known = element(
    "div",
    {},
    element("div", { className: "fields" }, field("Container", this.#chosen)),
    element("div", { className: "charts" }, ...this.#charts.map(({ root }) => root)),
  );
  root = element("div", {}, this.#note, this.#known);

  show(node) {
    this.#node = node;
    const options = optionsOf(node);
    const isFirst = this.#chosen.options.length === 0;
    setOptions(this.#chosen, options);
    if (isFirst && options.length > 0) {
      this.#chosen.value = firstOf(node, options);
    }
    this.#show();
  }

  close() {
    for (const chart of this.#charts) {
      chart.close();
    }
  }

  #show() {
    const { value: chosen } = this.#chosen;
    this.#known.hidden = chosen === "";
    const { history } = this.#node;
    setText(this.#note, chosen ? "" : history ? "No container was measured in the last 15 minutes." : IS_NOT_KNOWN);
    this.#note.hidden = this.#note.textContent === "";
    if (chosen === "") {
      return;
    }
    const now = Date.now();
    const running = this.#node.containers?.find(({ container }) => container === chosen);
    RESOURCES.forEach((resource, index) => {
      const chart = this.#charts[index];
      const shown = shownOf(resource, history, chosen, running, now);
      // Where no agent measures it, there is nothing to see.
      chart.root.hidden = !shown.series.some(({ values }) => values.some(isNumber));
      chart.show(shown);
    });
  }
}

/** Those that run, and then those that have ended. */
function optionsOf({ history, containers }) {
  const running = new Map((containers ?? []).map((it) => [it.container, it]));
  const names = (history?.containers ?? []).map(({ container }) => container);
  const words = (name) => {
    const one = running.get(name);
    return one ? `${name}${one.application_master ? " (application master)" : ""}` : `${name} (ended)`;
  };
  const ended = names.filter((name) => !running.has(name));
  return [...names.filter((name) => running.has(name)), ...ended].map((name) => [name, words(name)]);
}

/** A worker, if there is one: of a master there is less to see. */
function firstOf({ containers }, options) {
  const worker = (containers ?? []).find((it) => {
    return !it.application_master && options.some(([name]) => name === it.container);
  });
  return worker?.container ?? options[0][0];
}
