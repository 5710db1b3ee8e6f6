// The stream of decisions: new ones arrive on top, older ones on demand.

import { count } from "./amounts.js";
import { KINDS, textOf } from "./decision-words.js";
import { decisionsTable } from "./decisions-table.js";
import { element, field, section, select, setText } from "./element.js";
import { decisionsHref } from "./routes.js";

const PAGE = 100;
// More new ones than these pages hold take the place of what is loaded.
const MOST_PAGES = 5;
const MOST_LOADED = 2_000;
const FIELDS = ["application", "container", "node", "queue", "kind"];

export class DecisionsView {
  title = "Decisions";
  #filters = {};
  #loaded = [];
  #nextBefore = null;
  /** The newest decision of all when it was last asked. */
  #seen = null;
  #numbering = null;
  #isCut = false;
  #isOlderWanted = false;
  #inputs;
  #search = element("input", {
    type: "search",
    oninput: () => {
      this.#show();
      this.#announce();
    },
    placeholder: "in what is loaded",
  });
  #older;
  #told = element("p", { className: "note" });
  // The count changes in each round: a screen reader says it only where it was asked for.
  #announced = element("p", { className: "unseen", role: "status" });
  #table = decisionsTable({ most: MOST_LOADED });

  constructor({ parameters }, refreshNow) {
    const text = (name, placeholder) => element("input", { placeholder, spellcheck: "false" });
    this.#inputs = {
      application: text("application", "application_…"),
      container: text("container", "container_…"),
      node: text("node", "host:port"),
      queue: text("queue", "root.…"),
      kind: select([["", "all kinds"], ...KINDS.map((kind) => [kind, kind])], "", () => this.#apply()),
    };
    this.#older = element(
      "button",
      {
        type: "button",
        onclick: () => {
          this.#isOlderWanted = true;
          refreshNow();
        },
      },
      "Older decisions",
    );
    const apply = (event) => {
      event.preventDefault();
      this.#apply();
    };
    const fields = FIELDS.map((name) => field(name[0].toUpperCase() + name.slice(1), this.#inputs[name]));
    this.root = element(
      "div",
      {},
      section(
        "Decisions",
        element(
          "form",
          { className: "fields", onsubmit: apply },
          ...fields,
          element("button", {}, "Filter"),
          field("Search", this.#search),
        ),
        this.#told,
        this.#announced,
        this.#table.root,
        this.#older,
      ),
    );
    this.take({ parameters });
  }

  /** Other filters: the fields stay, and with them the focus and the text of the search. */
  take({ parameters }) {
    this.#filters = Object.fromEntries(FIELDS.map((name) => [name, parameters[name]?.trim()]).filter(([, it]) => it));
    for (const name of FIELDS) {
      const value = this.#filters[name] ?? "";
      if (this.#inputs[name].value !== value) {
        this.#inputs[name].value = value;
      }
    }
    this.#loaded = [];
    this.#nextBefore = null;
    this.#seen = null;
    this.#isCut = false;
    this.#isOlderWanted = false;
    this.#older.hidden = true;
  }

  async refresh(ask) {
    const askPage = (before) => ask("decisions", { ...this.#filters, limit: PAGE, ...before });
    const newest = await askPage({});
    if (newest) {
      await this.#addNewest(newest, askPage);
    }
    const isOlderWanted = this.#isOlderWanted && this.#nextBefore !== null;
    const older = isOlderWanted ? await askPage({ before: this.#nextBefore }) : null;
    if (older) {
      this.#isOlderWanted = false;
      this.#loaded.push(...older.decisions);
      this.#nextBefore = older.next_before;
    }
    if (this.#loaded.length > MOST_LOADED) {
      this.#loaded.length = MOST_LOADED;
      this.#nextBefore = this.#loaded.at(-1).number;
    }
    this.#show();
    if (older) {
      this.#announce();
    }
  }

  /** A page lacks what the caller may not see: how far was looked is what counts, not what was found. */
  async #addNewest({ decisions, next_before: nextBefore, newest, numbering }, askPage) {
    // After a restart or a failover the numbers mean other decisions.
    const seen = numbering === this.#numbering ? this.#seen : null;
    this.#seen = newest;
    this.#numbering = numbering;
    if (seen === null || newest === null) {
      this.#loaded = decisions;
      this.#nextBefore = nextBefore;
      return;
    }
    let fresh = decisions;
    let next = nextBefore;
    const isGap = () => next !== null && next > seen + 1;
    for (let pages = 1; isGap() && pages < MOST_PAGES; pages += 1) {
      const page = await askPage({ before: next });
      if (!page) {
        // They are asked for again in the next round.
        this.#seen = seen;
        return;
      }
      fresh = [...fresh, ...page.decisions];
      next = page.next_before;
    }
    this.#isCut ||= isGap();
    if (isGap()) {
      this.#loaded = fresh;
      this.#nextBefore = next;
    } else {
      this.#loaded = [...fresh.filter((it) => it.number > seen), ...this.#loaded];
    }
  }

  #show() {
    const wanted = this.#search.value.trim().toLowerCase();
    const found = this.#loaded.filter((it) => textOf(it).includes(wanted));
    this.#table.update(found);
    const isFull = this.#loaded.length >= MOST_LOADED;
    this.#older.hidden = this.#nextBefore === null || isFull;
    const matching = wanted ? `, ${count(found.length)} match the search` : "";
    const full = isFull ? " The page keeps no more: filter to see older ones." : "";
    const cut = this.#isCut ? " Many came at once, and what was loaded before them was dropped." : "";
    setText(
      this.#told,
      `${count(this.#loaded.length)} loaded${matching}.${full}${cut} The last 20,000 can be asked for.`,
    );
  }

  #announce() {
    setText(this.#announced, this.#told.textContent);
  }

  #apply() {
    const wanted = Object.fromEntries(FIELDS.map((name) => [name, this.#inputs[name].value.trim()]));
    location.hash = decisionsHref(wanted);
  }
}
