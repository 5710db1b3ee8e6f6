// The entry: shows the view that the address names, and keeps it up to date.

import { ApplicationView } from "./application-view.js";
import { ApplicationsView } from "./applications-view.js";
import { clockTime } from "./amounts.js";
import { ClusterView } from "./cluster-view.js";
import { DecisionsView } from "./decisions-view.js";
import { element } from "./element.js";
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
let isFirst = true;

const refreshing = new Refreshing((problems) => {
  const lines = problems.map(String);
  const shown = [...errors.children].map((line) => line.textContent);
  // An unchanged line is left alone, so that a screen reader says it once.
  if (lines.join("\n") !== shown.join("\n")) {
    errors.replaceChildren(...lines.map((line) => element("p", { className: "error" }, line)));
  }
  if (problems.length === 0) {
    updated.textContent = `Updated ${clockTime(Date.now())}`;
  }
});

function show() {
  if (location.hash === `#${place.id}`) {
    return; // The skip link, not a route.
  }
  const route = routeOf(location.hash);
  const view = new VIEWS[route.view](route, () => refreshing.now());
  place.replaceChildren(view.root);
  document.title = `${view.title} – Elastane`;
  for (const link of document.querySelectorAll("nav a")) {
    const isHere = link.getAttribute("href") === `#${route.section}`;
    if (isHere) {
      link.setAttribute("aria-current", "page");
    } else {
      link.removeAttribute("aria-current");
    }
  }
  if (!isFirst && !view.keepsFocus) {
    place.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }
  isFirst = false;
  refreshing.show(view);
}

window.addEventListener("hashchange", show);
show();
