// Amounts in words, with their units.

export const NOTHING = "–";
export const NOT_KNOWN = "not known: the core gives no answer now";
export const IS_NOT_KNOWN = "Not known: the core gives no answer now.";
export const MEBIBYTE = 2 ** 20;
export const GIBIBYTE = 2 ** 30;
export const MB_OF_GIB = 1024;

const formats = new Map();
const small = new Intl.NumberFormat("en", { minimumSignificantDigits: 2, maximumSignificantDigits: 2 });

/** At least three significant digits, and two below 1: 1,234 and 12.3 and 1.23 and 0.0042. */
export function number(value) {
  if (!isNumber(value)) {
    return NOTHING;
  }
  const size = Math.abs(value);
  if (size < 1 && size > 0) {
    return small.format(value);
  }
  const digits = Number.isInteger(value) || size >= 100 ? 0 : size >= 10 ? 1 : 2;
  return withDigits(value, digits);
}

function withDigits(value, digits) {
  if (!formats.has(digits)) {
    const fixed = { minimumFractionDigits: digits, maximumFractionDigits: digits };
    formats.set(digits, new Intl.NumberFormat("en", fixed));
  }
  return formats.get(digits).format(value);
}

/** A whole number. */
export function count(value) {
  return isNumber(value) ? withDigits(value, 0) : NOTHING;
}

/** Such as "1 node" and "2 nodes". */
export function counted(value, one, many = `${one}s`) {
  return `${count(value)} ${value === 1 ? one : many}`;
}

export function cores(value) {
  return isNumber(value) ? `${number(value)} ${value === 1 ? "core" : "cores"}` : NOTHING;
}

/** Memory of a node or more. */
export function gibOfMb(value) {
  return isNumber(value) ? `${number(value / MB_OF_GIB)} GiB` : NOTHING;
}

/** Memory of a container: MiB below 1 GiB. */
export function memory(bytes) {
  if (!isNumber(bytes)) {
    return NOTHING;
  }
  return bytes < GIBIBYTE ? `${count(bytes / MEBIBYTE)} MiB` : `${number(bytes / GIBIBYTE)} GiB`;
}

export function perSecond(bytes) {
  return isNumber(bytes) ? `${number(bytes / MEBIBYTE)} MiB/s` : NOTHING;
}

export function percent(value) {
  return isNumber(value) ? `${withDigits(value, Math.abs(value) < 10 && value !== 0 ? 1 : 0)} %` : NOTHING;
}

/** A length of time in its two largest units. */
export function duration(ms) {
  if (!isNumber(ms)) {
    return NOTHING;
  }
  const seconds = Math.max(0, Math.round(ms / 1000));
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  if (hours >= 48) {
    return `${Math.floor(hours / 24)} d ${hours % 24} h`;
  }
  if (hours > 0) {
    return `${hours} h ${minutes} min`;
  }
  return minutes > 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s`;
}

const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });
const minute = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short" });

/** The time of day, in the browser's time zone. */
export function clockTime(ms) {
  return clock.format(ms);
}

export function clockMinute(ms) {
  return minute.format(ms);
}

/** The time of day, with the date if it is not today's. */
export function moment(ms) {
  if (!isNumber(ms)) {
    return NOTHING;
  }
  const date = day.format(ms);
  return date === day.format(Date.now()) ? clockTime(ms) : `${date} ${clockTime(ms)}`;
}

export function isNumber(value) {
  return typeof value === "number" && Number.isFinite(value);
}

/** The last number of a series, null without one. */
export function latest(values) {
  return (values ?? []).findLast(isNumber) ?? null;
}
