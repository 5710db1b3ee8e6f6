// The cluster: how it stands, its sizes over time, what was gained, and what fell back.

import { AdviceSection } from "./advice-section.js";
import { count, counted, isNumber, NOT_KNOWN, NOTHING } from "./amounts.js";
import { ClusterCharts } from "./cluster-charts.js";
import { ClusterFallbacks } from "./cluster-fallbacks.js";
import { gains } from "./cluster-gain.js";
import { element, field, section, select, setOptions } from "./element.js";
import { QueuesSection } from "./queues-section.js";
import { Tiles } from "./tiles.js";

const ALL = "all";
const OF_LABEL = "label:";
// One for the page, so that its figures stay while another view is shown.
const advice = new AdviceSection();

export class ClusterView {
  title = "Cluster";
  #tiles = new Tiles();
  #gained = new Tiles();
  #charts = new ClusterCharts();
  #fallbacks = new ClusterFallbacks();
  #queues = new QueuesSection();
  #label;
  #history = { label: "", askedMs: -Infinity, answer: null };

  constructor(route, refreshNow) {
    this.#label = select([[ALL, "all nodes"]], ALL, refreshNow);
    this.root = element(
      "div",
      {},
      section("State", this.#tiles.root),
      section(
        "Sizes",
        field("Nodes of label", this.#label),
        this.#charts.root,
        element(
          "p",
          { className: "note" },
          "Physical is what nodes registered, bookable what CapacityScheduler may give away by " +
            "request, booked what containers requested, planned what they are expected to use, and " +
            "used what agents measured. Planned and used CPU is in physical cores, the rest in " +
            "virtual cores. Nobody requests network or disks: their physical speed is what agents " +
            "measured or were told.",
        ),
      ),
      section("What was gained", this.#gained.root),
      advice.root,
      section("Queues", this.#queues.root),
      section("What fell back, and why", this.#fallbacks.root),
    );
  }

  async refresh(ask) {
    const label = this.#label.value;
    const ofLabel = label === ALL ? {} : { label: label.slice(OF_LABEL.length) };
    const [status, sizes, queues, history, plan, refusals] = await Promise.all([
      ask("status", { nodes: "none", waiting: "none" }),
      ask("sizes"),
      ask("queues"),
      this.#historyOf(label, ofLabel, ask),
      ask("plan", ofLabel),
      // Without a core there are no decisions, which the tile says already.
      ask("decisions", { kind: "refused", limit: 5 }, [503]),
    ]);
    if (sizes) {
      this.#showLabels(sizes.labels);
    }
    if (status && sizes) {
      this.#tiles.show(stateTiles(status, sizes.cluster));
      this.#fallbacks.show(status, sizes.cluster, refusals?.decisions ?? null);
    }
    if (queues) {
      this.#queues.show(queues.queues);
    }
    if (history) {
      this.#charts.show(history, plan?.planned ?? null);
    }
    if (status && sizes && history) {
      const entry = label === ALL ? sizes.cluster : sizes.labels.find((it) => it.label === ofLabel.label);
      this.#gained.show(gains(entry ?? sizes.cluster, sizes.cluster, status.containers, history));
    }
    if (status && queues) {
      await advice.refresh(ask, status, queues.queues);
    }
  }

  /** The history, which is asked for again once it can have another step. */
  async #historyOf(label, ofLabel, ask) {
    const { answer, askedMs } = this.#history;
    // By the browser's own clock, which may differ from the ResourceManager's.
    const isCurrent = this.#history.label === label && performance.now() - askedMs < answer?.step_ms;
    if (isCurrent && answer.time_ms.length > 0) {
      return answer;
    }
    const asked = performance.now();
    const newer = await ask("history", ofLabel);
    if (newer) {
      this.#history = { label, askedMs: asked, answer: newer };
    }
    return newer;
  }

  close() {
    this.#charts.close();
  }

  #showLabels(labels) {
    const options = labels.map(({ label }) => [OF_LABEL + label, label || "no label"]);
    setOptions(this.#label, [[ALL, "all nodes"], ...options]);
  }
}

function stateTiles(status, cluster) {
  return [
    {
      name: "Mode",
      value: status.mode ?? NOTHING,
      about: enforced(status, cluster),
    },
    {
      name: "Core",
      value: status.in_service ? "in service" : "out of service",
      about: status.in_service ? "" : "CapacityScheduler decides alone",
      isBad: !status.in_service,
    },
    {
      name: "Nodes",
      value: count(cluster.nodes),
      about: `${count(cluster.nodes_raised)} raised, ${reporting(status)}`,
    },
    { name: "Containers", value: count(status.containers), about: planned(status) },
    waiting(status),
  ];
}

/** On which nodes decisions are applied. */
function enforced({ mode, nodes_enforced: nodes }, cluster) {
  if (mode === undefined) {
    return NOT_KNOWN;
  }
  if (mode !== "enforce") {
    return nodes > 0 ? `enforced on ${counted(nodes, "node")}` : "decisions are recorded, and none is applied";
  }
  return nodes < cluster.nodes ? `enforced on ${count(nodes)} of ${counted(cluster.nodes, "node")}` : "";
}

function reporting({ agents_fresh: fresh }) {
  return isNumber(fresh) ? `${count(fresh)} reporting` : `reports ${NOT_KNOWN}`;
}

function waiting({ waiting_applications: applications, waiting_containers: containers }) {
  return isNumber(applications)
    ? {
        name: "Waiting",
        value: counted(applications, "application"),
        about: `for ${counted(containers, "container")}`,
      }
    : { name: "Waiting", value: NOTHING, about: NOT_KNOWN };
}

function planned(status) {
  if (!isNumber(status.containers)) {
    return NOT_KNOWN;
  }
  return status.predicted_containers === undefined ? "" : `${count(status.predicted_containers)} planned by a profile`;
}
