// One node: its use and plan over time, its containers, and who arrives next.

import { cores, counted, duration, gibOfMb, IS_NOT_KNOWN, NOTHING, perSecond } from "./amounts.js";
import { ContainerCharts } from "./container-charts.js";
import { containersTable } from "./containers-table.js";
import { element, section, setText } from "./element.js";
import { isSilent } from "./heat-measures.js";
import { LimitChangesTable } from "./limit-changes-table.js";
import { LimitsTable } from "./limits-table.js";
import { NodeCharts } from "./node-charts.js";
import { applicationHref, decisionsHref } from "./routes.js";
import { Table } from "./table.js";
import { Tiles } from "./tiles.js";

export class NodeView {
  #node;
  #tiles = new Tiles();
  #charts = new NodeCharts();
  #containers = containersTable(true);
  #oneContainer = new ContainerCharts();
  #limits = new LimitsTable();
  #limitChanges = new LimitChangesTable();
  #hidden = element("p", { className: "note" });
  #arrivals = new Table(
    "Applications whose next container is planned to start here",
    [
      {
        heading: "Application",
        cell: (it) => ({ text: it.application, href: applicationHref(it.application) }),
        isName: true,
        isId: true,
      },
      { heading: "Name", cell: (it) => it.name, wraps: true },
      { heading: "In", cell: (it) => duration(it.in_ms), number: true },
    ],
    { key: (it) => it.application, isAlone: true },
  );

  constructor({ id }) {
    this.#node = id;
    this.title = id;
    this.root = element(
      "div",
      {},
      section(`Node ${id}`, this.#tiles.root, this.#charts.root),
      section("Containers", this.#containers.root, this.#hidden),
      section("One container over time", this.#oneContainer.root),
      section("Who arrives next", this.#arrivals.root),
      // Several rows for each container.
      section("Limits", this.#limits.root),
      section("Changes of limits", this.#limitChanges.root),
      element("p", {}, element("a", { href: decisionsHref({ node: id }) }, "Decisions about this node")),
    );
  }

  async refresh(ask) {
    const node = await ask(`nodes/${encodeURIComponent(this.#node).replaceAll("%3A", ":")}`);
    if (!node) {
      return;
    }
    this.#tiles.show(tiles(node));
    this.#charts.show(node);
    this.#containers.empty = node.containers ? "None." : IS_NOT_KNOWN;
    this.#containers.update(node.containers ?? []);
    this.#oneContainer.show(node);
    this.#limits.update(node.containers);
    this.#limitChanges.update(node.containers);
    const hidden = node.hidden_containers;
    setText(this.#hidden, hidden > 0 ? `And ${counted(hidden, "container")} that you may not see.` : "");
    this.#arrivals.empty = node.containers ? "No application is planned to start here." : IS_NOT_KNOWN;
    this.#arrivals.update(node.arrivals ?? []);
  }

  close() {
    this.#charts.close();
    this.#oneContainer.close();
  }
}

function reportTile(node) {
  const age = node.report_age_ms;
  if (node.report_is_fresh === null) {
    return { name: "Report", value: "not known", about: "the core gives no answer now" };
  }
  return {
    name: "Report",
    value: age === null ? "never" : `${duration(age)} ago`,
    about: isSilent(node) ? "silent: CapacityScheduler decides alone" : "",
    isBad: isSilent(node),
  };
}

function trafficTile(name, node, resource) {
  const physical = node[`physical_${resource}`];
  return {
    name,
    value: perSecond(node[`used_${resource}`]),
    about: `planned ${perSecond(node[`planned_${resource}`])}, physical ${physical ? perSecond(physical) : "not known"}`,
  };
}

function tiles(node) {
  return [
    { name: "Mode", value: node.mode ?? NOTHING, about: node.label ? `label ${node.label}` : "no label" },
    reportTile(node),
    {
      name: "Bookable memory",
      value: gibOfMb(node.bookable_memory_mb),
      about: `physical ${gibOfMb(node.physical_memory_mb)}${node.is_raised ? ", raised" : ""}`,
    },
    {
      name: "Booked memory",
      value: gibOfMb(node.booked_memory_mb),
      about: `planned ${gibOfMb(node.planned_memory_mb)}, used ${gibOfMb(node.used_memory_mb)}`,
    },
    {
      name: "Booked virtual cores",
      value: `${node.booked_vcores} of ${node.bookable_vcores}`,
      about: `planned ${cores(node.planned_cpu_cores)}, used ${cores(node.used_cpu_cores)}`,
    },
    trafficTile("Used network", node, "network_bytes_per_s"),
    trafficTile("Used disk", node, "disk_bytes_per_s"),
  ];
}
