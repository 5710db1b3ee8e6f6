// A table that is brought up to date in place: focus, selection and scrolling stay.

import { count } from "./amounts.js";
import { element, setText } from "./element.js";

const collator = new Intl.Collator("en", { numeric: true });

export class Table {
  #columns;
  #key;
  #most;
  #body = element("tbody");
  #note = element("p", { className: "note" });
  #rows = new Map();
  #data = [];
  #total = 0;
  #order = null;

  /**
   * A column has a `heading`, and `cell(row)`: a text, a link `{text, href}`, or an array of them.
   * With `sort(row)` its heading is a button. `number` aligns it to the right, `isName` makes its
   * cells the headings of their rows, `wraps` lets long text take several lines, and `isId` lets
   * ids and `isLabel` names do so. The caption of a table that `isAlone` below its heading is for screen readers only.
   */
  constructor(caption, columns, { key, most = Infinity, empty = "None.", isAlone = false }) {
    this.#columns = columns;
    this.#key = key;
    this.#most = most;
    this.empty = empty;
    const headings = columns.map((column, index) => this.#heading(column, index));
    this.table = element(
      "table",
      {},
      element("caption", { className: isAlone ? "unseen" : "" }, caption),
      element("thead", {}, element("tr", {}, ...headings)),
      this.#body,
    );
    // Who has no pointer scrolls with the arrow keys, once the region has the focus. A section may have the caption's name.
    const scroll = { className: "scroll", tabindex: 0, role: "region", "aria-label": `Table: ${caption}` };
    this.root = element("div", {}, this.#note, element("div", scroll, this.table));
  }

  /** `total` counts also the rows that were not asked for. */
  update(data, total = data.length) {
    this.#data = data;
    this.#total = total;
    this.#show();
  }

  #show() {
    const shown = this.#sorted().slice(0, this.#most);
    const rows = new Map();
    for (const data of shown) {
      const key = this.#key(data);
      const row = this.#rows.get(key) ?? this.#newRow();
      rows.set(key, row);
      this.#fill(row, data);
    }
    for (const [key, row] of this.#rows) {
      if (rows.get(key) !== row) {
        row.line.remove();
      }
    }
    this.#rows = rows;
    this.#arrange([...rows.values()].map((row) => row.line));
    const all = this.#data.length;
    // An empty region would be a stop for the tabulator key.
    this.table.parentElement.hidden = all === 0;
    setText(this.#note, all === 0 ? this.empty : cut(shown.length, all, this.#total));
    this.#note.hidden = this.#note.textContent === "";
  }

  /** Brings the lines into their order. The one with the focus would lose it if it were moved. */
  #arrange(lines) {
    const focused = lines.find((line) => line.contains(document.activeElement));
    let next = this.#body.firstChild;
    for (const line of lines) {
      if (line === focused) {
        while (next !== line) {
          const later = next;
          next = next.nextSibling;
          this.#body.append(later);
        }
      }
      if (line === next) {
        next = next.nextSibling;
      } else {
        this.#body.insertBefore(line, next);
      }
    }
  }

  #heading(column, index) {
    const className = classOf(column);
    if (!column.sort) {
      return element("th", { scope: "col", className }, column.heading);
    }
    const button = element("button", { type: "button", onclick: () => this.#sortBy(index) });
    button.append(column.heading);
    return element("th", { scope: "col", className }, button);
  }

  #sortBy(index) {
    const isSame = this.#order?.index === index;
    // Numbers are of interest from the largest on.
    const sign = isSame ? -this.#order.sign : this.#columns[index].number ? -1 : 1;
    this.#order = { index, sign };
    [...this.table.tHead.rows[0].cells].forEach((cell, at) => {
      cell.removeAttribute("aria-sort");
      if (at === index) {
        cell.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
      }
    });
    this.#show();
  }

  #sorted() {
    if (!this.#order) {
      return this.#data;
    }
    const { index, sign } = this.#order;
    const { sort } = this.#columns[index];
    return [...this.#data].sort((one, other) => sign * compare(sort(one), sort(other)));
  }

  #newRow() {
    const cells = this.#columns.map((column) => {
      const className = classOf(column);
      return column.isName ? element("th", { scope: "row", className }) : element("td", { className });
    });
    return { line: element("tr", {}, ...cells), cells, written: [] };
  }

  #fill(row, data) {
    this.#columns.forEach((column, index) => {
      const content = column.cell(data);
      const written = JSON.stringify(content);
      if (row.written[index] !== written) {
        row.written[index] = written;
        const parts = column.isId ? breakable : (text) => [text];
        row.cells[index].replaceChildren(...[content].flat().flatMap((it) => nodes(it, parts)));
      }
    });
  }
}

function nodes(content, parts) {
  if (content !== null && typeof content === "object") {
    const { text, href } = content;
    return [href ? element("a", { href }, ...parts(text)) : element("b", {}, text)];
  }
  return parts(content ?? "");
}

/** The text with places for line breaks between the parts of an id, a profile or an address. */
function breakable(text) {
  const parts = String(text).split(/(?<=\d_|[|:])/);
  return parts.flatMap((part, index) => (index === 0 ? [part] : [element("wbr"), part]));
}

function classOf({ number, wraps, isId, isLabel }) {
  const names = { number, wraps, id: isId, label: isLabel };
  return Object.keys(names)
    .filter((name) => names[name])
    .join(" ");
}

function compare(one, other) {
  if (typeof one === "string" || typeof other === "string") {
    return collator.compare(String(one ?? ""), String(other ?? ""));
  }
  return (one ?? -Infinity) - (other ?? -Infinity) || 0;
}

/** Sorting helps only where all rows are loaded. */
function cut(shown, loaded, total) {
  const how = loaded < total ? "filter" : "filter or sort";
  return shown < total ? `${count(shown)} of ${count(total)} are shown: ${how} to see others.` : "";
}
