// The entry: shows the view that the address names, and keeps it up to date.

import { clockTime } from "./amounts.js";
import { ApplicationView } from "./application-view.js";
import { ApplicationsView } from "./applications-view.js";
import { ClusterView } from "./cluster-view.js";
import { DecisionsView } from "./decisions-view.js";
import { element } from "./element.js";
import { linesOf } from "./fetching.js";
import { NodeView } from "./node-view.js";
import { NodesView } from "./nodes-view.js";
import { Refreshing } from "./refreshing.js";
import { routeOf } from "./routes.js";

const VIEWS = {
  cluster: ClusterView,
  nodes: NodesView,
  node: NodeView,
  applications: ApplicationsView,
  application: ApplicationView,
  decisions: DecisionsView,
};

const place = document.getElementById("view");
const errors = document.getElementById("errors");
const updated = document.getElementById("updated");
let shown = null;

const refreshing = new Refreshing((problems) => {
  const lines = linesOf(problems);
  const told = [...errors.children].map((line) => line.textContent);
  // An unchanged line is left alone, so that a screen reader says it once.
  if (lines.join("\n") !== told.join("\n")) {
    errors.replaceChildren(...lines.map((line) => element("p", { className: "error" }, line)));
  }
  if (problems.length === 0) {
    updated.textContent = `Updated ${clockTime(Date.now())}`;
  }
});

function show() {
  const route = routeOf(location.hash);
  const isFirst = shown === null;
  const isSame = shown?.name === route.view && shown.view.take !== undefined;
  const view = isSame ? shown.view : new VIEWS[route.view](route, () => refreshing.now());
  shown = { name: route.view, view };
  if (isSame) {
    view.take(route);
  } else {
    place.replaceChildren(view.root);
  }
  document.title = `${view.title} – Elastane`;
  for (const link of document.querySelectorAll("nav a")) {
    const isHere = link.getAttribute("href") === `#${route.section}`;
    if (isHere) {
      link.setAttribute("aria-current", "page");
    } else {
      link.removeAttribute("aria-current");
    }
  }
  // Who changes a filter goes on in its field.
  const isInField = isSame && document.activeElement?.closest("form");
  if (!isFirst && !isInField) {
    focusPlace();
  }
  refreshing.show(view);
}

function focusPlace() {
  place.focus({ preventScroll: true });
  window.scrollTo(0, 0);
}

// The address behind # is the view's, so that these two set the focus without it.
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  place.focus();
});
document.querySelector("nav").addEventListener("click", (event) => {
  if (event.target.closest("a")) {
    focusPlace();
  }
});
window.addEventListener("hashchange", show);
show();
