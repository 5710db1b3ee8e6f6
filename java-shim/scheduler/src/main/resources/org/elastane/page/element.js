// Builds the document's elements. All text becomes text nodes: names of applications come from users.

/**
 * An element with attributes and children. `className` is the class, keys that begin with `on` are
 * listeners, true is an attribute without a value, and false or null is left out.
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "className") {
      made.className = value;
    } else if (name.startsWith("on")) {
      made.addEventListener(name.slice(2), value);
    } else if (value !== null && value !== undefined && value !== false) {
      made.setAttribute(name, value === true ? "" : value);
    }
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** Sets a text only if it changed, so that a selection stays. */
export function setText(node, text) {
  if (node.textContent !== text) {
    node.textContent = text;
  }
}

let lastId = 0;

/** A text box or a select with its label. */
export function field(label, input) {
  lastId += 1;
  input.id = `field-${lastId}`;
  return element("span", { className: "field" }, element("label", { for: input.id }, label), input);
}

/** A select; `options` are pairs of value and words. */
export function select(options, value, onchange) {
  const made = element("select", { onchange });
  setOptions(made, options);
  made.value = value;
  return made;
}

/** Changes the options of a select, and keeps the one that is chosen if it is still there. */
export function setOptions(chosen, options) {
  const wanted = JSON.stringify(options);
  if (chosen.dataset.options === wanted) {
    return;
  }
  const { value } = chosen;
  chosen.dataset.options = wanted;
  chosen.replaceChildren(...options.map(([key, words]) => element("option", { value: key }, words)));
  if (options.some(([key]) => key === value)) {
    chosen.value = value;
  }
}

/** A section with a heading that names it. */
export function section(title, ...children) {
  lastId += 1;
  const id = `section-${lastId}`;
  return element("section", { "aria-labelledby": id }, element("h2", { id }, title), ...children);
}
