// The colours of charts, from the style sheet, which has them for light and dark.

const dark = window.matchMedia("(prefers-color-scheme: dark)");

/** The value of a colour of the style sheet, such as "--used". */
export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** Calls a function when light changes to dark or back; returns how to end that. */
export function onSchemeChange(listener) {
  dark.addEventListener("change", listener);
  return () => dark.removeEventListener("change", listener);
}

/** Colours of containers, which repeat after the eighth. */
export function containerColour(index) {
  return `--container-${(index % 8) + 1}`;
}

/** Red, green and blue of a colour that is written as #rrggbb. */
export function channels(name) {
  const text = colour(name);
  return [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
}
