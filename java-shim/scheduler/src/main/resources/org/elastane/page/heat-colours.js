// The colours of the heat map, and its legend.

import { channels, colour, onSchemeChange } from "./colours.js";
import { element } from "./element.js";

const STEPS = 40;
/** The share of the last colour. */
const MOST = 2;

/** A bar with the colours and what they mean. */
export function legend() {
  const canvas = element("canvas", {
    className: "scale",
    "aria-hidden": "true",
    width: STEPS + 1,
    height: 1,
  });
  const hatch = element("canvas", { className: "hatch", "aria-hidden": "true", width: 14, height: 14 });
  const paint = () => {
    const context = canvas.getContext("2d");
    colours().forEach(({ fill }, step) => {
      context.fillStyle = fill;
      context.fillRect(step, 0, 1, 1);
    });
    const hatching = hatch.getContext("2d");
    hatching.fillStyle = hatched(hatching);
    hatching.fillRect(0, 0, 14, 14);
  };
  paint();
  const root = element(
    "p",
    { className: "legend" },
    element("span", {}, "0 %", canvas, `${MOST * 100} % and more`),
    element("span", {}, hatch, "silent or not known"),
  );
  return { root, close: onSchemeChange(paint) };
}

/** The index of the colour of a share. */
export function stepOf(share) {
  return Math.round((Math.min(MOST, Math.max(0, share)) / MOST) * STEPS);
}

export function colours() {
  const stops = [0, 1, 2, 3, 4].map((stop) => channels(`--heat-${stop}`));
  return Array.from({ length: STEPS + 1 }, (_, step) => {
    const at = (step / STEPS) * (stops.length - 1);
    const below = Math.min(stops.length - 2, Math.floor(at));
    const mixed = stops[below].map((low, i) => low + (stops[below + 1][i] - low) * (at - below));
    // Relative luminance, about: the text is black on bright cells.
    const brightness = 0.299 * mixed[0] + 0.587 * mixed[1] + 0.114 * mixed[2];
    return { fill: `rgb(${mixed.map(Math.round).join(" ")})`, text: brightness > 140 ? "#000" : "#fff" };
  });
}

/** Grey stripes, which differ from every colour also for who does not see colours. */
export function hatched(context) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 6;
  const drawing = tile.getContext("2d");
  drawing.fillStyle = colour("--line");
  drawing.fillRect(0, 0, 6, 6);
  drawing.strokeStyle = colour("--muted");
  drawing.beginPath();
  for (const shift of [-6, 0, 6]) {
    drawing.moveTo(shift, 6);
    drawing.lineTo(shift + 6, 0);
  }
  drawing.stroke();
  return context.createPattern(tile, "repeat");
}
