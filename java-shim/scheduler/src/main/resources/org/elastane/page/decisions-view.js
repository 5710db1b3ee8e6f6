// The stream of decisions: new ones arrive on top, older ones on demand.

import { count } from "./amounts.js";
import { KINDS, textOf } from "./decision-words.js";
import { decisionsTable } from "./decisions-table.js";
import { element, field, section, select, setText } from "./element.js";
import { decisionsHref } from "./routes.js";

const PAGE = 100;
const FIELDS = ["application", "container", "node", "kind"];

export class DecisionsView {
  title = "Decisions";
  // A change of a filter changes the address, and the view is made anew.
  keepsFocus = true;
  #filters;
  #loaded = [];
  #nextBefore = null;
  #isOlderWanted = false;
  #inputs;
  #search = element("input", {
    type: "search",
    oninput: () => this.#show(),
    placeholder: "in what is loaded",
  });
  #older;
  #told = element("p", { className: "note", role: "status" });
  #table = decisionsTable();

  constructor({ parameters }, refreshNow) {
    this.#filters = Object.fromEntries(
      FIELDS.map((name) => [name, parameters[name]?.trim()]).filter(([, it]) => it),
    );
    const value = (name) => this.#filters[name] ?? "";
    const text = (name, placeholder) =>
      element("input", { value: value(name), placeholder, spellcheck: "false" });
    this.#inputs = {
      application: text("application", "application_…"),
      container: text("container", "container_…"),
      node: text("node", "host:port"),
      kind: select([["", "all kinds"], ...KINDS.map((kind) => [kind, kind])], value("kind"), () =>
        this.#apply(),
      ),
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
        this.#table.root,
        this.#older,
      ),
    );
    this.#older.hidden = true;
  }

  async refresh(ask) {
    const newest = await ask("decisions", { ...this.#filters, limit: PAGE });
    if (newest) {
      this.#addNewest(newest);
    }
    if (this.#isOlderWanted && this.#nextBefore !== null) {
      const older = await ask("decisions", { ...this.#filters, limit: PAGE, before: this.#nextBefore });
      if (older) {
        this.#isOlderWanted = false;
        this.#loaded.push(...older.decisions);
        this.#nextBefore = older.next_before;
      }
    }
    this.#show();
  }

  #addNewest({ decisions, next_before: nextBefore }) {
    const known = this.#loaded[0]?.number ?? -1;
    const isSameCore = decisions.length === 0 || decisions[0].number >= known;
    const fresh = decisions.filter((it) => it.number > known);
    // After a gap, or with the numbers of a new core, the list begins anew.
    const isConnected = isSameCore && (fresh.length < decisions.length || decisions.length === 0);
    if (isConnected && this.#loaded.length > 0) {
      this.#loaded.unshift(...fresh);
    } else {
      this.#loaded = decisions;
      this.#nextBefore = nextBefore;
    }
  }

  #show() {
    const wanted = this.#search.value.trim().toLowerCase();
    const found = this.#loaded.filter((it) => textOf(it).includes(wanted));
    this.#table.update(found);
    this.#older.hidden = this.#nextBefore === null;
    const matching = wanted ? `, ${count(found.length)} match the search` : "";
    setText(
      this.#told,
      `${count(this.#loaded.length)} loaded${matching}. The last 20,000 since the core was opened can be asked for.`,
    );
  }

  #apply() {
    const wanted = Object.fromEntries(FIELDS.map((name) => [name, this.#inputs[name].value.trim()]));
    location.hash = decisionsHref(wanted);
  }
}
