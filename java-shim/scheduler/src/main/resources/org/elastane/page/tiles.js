// Numbers side by side, each with its name and a remark.

import { element, setText } from "./element.js";

export class Tiles {
  root = element("dl", { className: "tiles" });
  #tiles = new Map();

  /** Each tile has `name`, `value`, `about`, and `isBad` where somebody should look. */
  show(tiles) {
    for (const { name, value, about, isBad } of tiles) {
      if (!this.#tiles.has(name)) {
        this.#tiles.set(name, newTile(name));
        this.root.append(this.#tiles.get(name).box);
      }
      const tile = this.#tiles.get(name);
      setText(tile.value, value);
      setText(tile.about, about ?? "");
      tile.box.classList.toggle("bad", Boolean(isBad));
    }
  }
}

function newTile(name) {
  const value = element("dd", { className: "value" });
  const about = element("dd", { className: "about" });
  return { value, about, box: element("div", {}, element("dt", {}, name), value, about) };
}
