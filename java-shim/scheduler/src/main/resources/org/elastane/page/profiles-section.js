// The profiles: what earlier runs of applications used.

import { cores, count, counted, duration, IS_NOT_KNOWN, memory, moment, NOTHING, number, percent } from "./amounts.js";
import { element, section, setText } from "./element.js";
import { Problem } from "./fetching.js";
import { Table } from "./table.js";

const MOST = 300;
const MOST_ROWS = 1_000;
// For a filter all are asked for.
const ALL = 10_000;
// A profile changes when a run ends, so that its table is not asked for in each round.
const EVERY_MS = 60_000;

const COLUMNS = [
  { heading: "Profile", cell: (it) => it.profile, sort: (it) => it.profile, isName: true, isId: true },
  { heading: "Runs", cell: (it) => count(it.runs), sort: (it) => it.runs, number: true },
  {
    heading: "Expected length",
    cell: (it) => duration(it.length_ms),
    sort: (it) => it.length_ms,
    number: true,
  },
  { heading: "Last used", cell: (it) => moment(it.used_ms), sort: (it) => it.used_ms, number: true },
  { heading: "Containers", cell: (it) => it.kind, sort: (it) => it.kind },
  {
    heading: "Confidence",
    cell: (it) => number(it.confidence),
    sort: (it) => it.confidence,
    number: true,
  },
  {
    heading: "Margin",
    cell: (it) => percent(it.margin_percent),
    sort: (it) => it.margin_percent,
    number: true,
  },
  { heading: "Stages", cell: (it) => count(it.stages), sort: (it) => it.stages, number: true },
  {
    heading: "Peak memory",
    cell: (it) => memory(it.peak?.memory_bytes),
    sort: (it) => it.peak?.memory_bytes,
    number: true,
  },
  {
    heading: "Peak CPU",
    cell: (it) => cores(it.peak?.cpu_cores),
    sort: (it) => it.peak?.cpu_cores,
    number: true,
  },
];

export class ProfilesSection {
  #profiles = [];
  #total = 0;
  #told = element("p", { className: "note" });
  #wanted = "";
  #askedMs = -Infinity;
  #refused = "";
  #table = new Table("Profiles", COLUMNS, { key: (it) => it.key, most: MOST_ROWS, isAlone: true });
  root = section("Profiles", this.#told, this.#table.root);

  /** Whether some were not asked for. */
  get isPart() {
    return this.#profiles.length < this.#total;
  }

  async refresh(ask) {
    const isAllWanted = this.#wanted !== "" && this.isPart;
    if (performance.now() - this.#askedMs < EVERY_MS && !isAllWanted) {
      return;
    }
    const limit = this.#wanted === "" ? MOST : ALL;
    const answer = await ask("profiles", { limit }, [403, 503]);
    if (answer === null) {
      return;
    }
    const isAnswered = answer.status !== 503;
    // Without an answer of the core, they are asked for in the next round.
    this.#askedMs = isAnswered ? performance.now() : -Infinity;
    const words = isAnswered ? answer.words : IS_NOT_KNOWN;
    this.#refused = answer instanceof Problem ? words : "";
    this.#profiles = answer instanceof Problem ? [] : answer.profiles;
    this.#total = answer instanceof Problem ? 0 : answer.total;
    this.filter(this.#wanted);
  }

  /** Shows the profiles whose names contain a text in lower case. */
  filter(wanted) {
    this.#wanted = wanted;
    const empty = wanted ? "None that matches the filter." : "No profile yet: one is made when a run ends.";
    this.#table.empty = this.#refused || empty;
    const found = this.#profiles.filter((it) => it.profile.toLowerCase().includes(wanted));
    this.#table.update(found.flatMap(byKind));
    const last = `The ${count(this.#profiles.length)} last used of ${counted(this.#total, "profile")}`;
    setText(this.#told, this.isPart ? `${last}: filter to find others.` : "");
  }
}

/** One row for each kind of container; a profile without one has a row, too. */
function byKind({ kinds, ...profile }) {
  if (kinds.length === 0) {
    return [{ ...profile, key: profile.profile, kind: NOTHING }];
  }
  return kinds.map((it) => {
    const kind = nameOf(it);
    return { ...profile, ...it, kind, key: `${profile.profile}\n${kind}` };
  });
}

function nameOf({ kind, request_priority: priority }) {
  return priority === null || priority === undefined ? kind : `${kind}, priority ${priority}`;
}
