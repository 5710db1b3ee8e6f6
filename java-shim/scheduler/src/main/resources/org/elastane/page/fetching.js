// One question to the REST, and in words why it was not answered.

const TIMEOUT_MS = 30_000;

/** Why a question was not answered, and what to do. */
export class Problem {
  constructor(path, status, words) {
    this.path = path;
    this.status = status;
    this.words = words;
  }
}

/** One line for all problems with the same words, in an order that does not depend on which came first. */
export function linesOf(problems) {
  const paths = new Map();
  const sorted = [...problems].sort((one, other) => (one.path < other.path ? -1 : 1));
  for (const { path, words } of sorted) {
    paths.set(words, [...(paths.get(words) ?? []), path]);
  }
  return [...paths].map(([words, of]) => [of.filter(Boolean).join(", "), words].filter(Boolean).join(": "));
}

/** The answer at a path behind `v1/`; throws a Problem, or the signal's reason once aborted. */
export async function fetchJson(path, parameters, signal) {
  const query = new URLSearchParams(parameters).toString();
  const url = `v1/${path}${query ? `?${query}` : ""}`;
  const timed = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  let response;
  let answer;
  try {
    response = await fetch(url, { signal: timed, headers: { Accept: "application/json" } });
    answer = await jsonOrNull(response);
  } catch {
    signal.throwIfAborted();
    throw new Problem(
      url,
      0,
      "the ResourceManager does not answer. The numbers shown are the last ones. If this stays, " +
        "look whether the ResourceManager runs, or reload the page to reach the active one.",
    );
  }
  if (response.ok && answer !== null) {
    return answer;
  }
  throw new Problem(url, response.status, advice(response.status, answer?.error));
}

async function jsonOrNull(response) {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function advice(status, error) {
  const said = error ? `${error.replace(/\.$/, "")}. ` : "";
  switch (status) {
    case 401:
      return `${said}Your login has ended: reload the page.`;
    case 403:
      return `${said}An administrator of YARN may see this.`;
    case 404:
      return said || "Nothing is here.";
    case 500:
      return `${said}Elastane failed: the ResourceManager's log has the cause.`;
    case 503:
      return `${said}There is no answer now; the page asks again.`;
    default:
      return `${said}Status ${status} without JSON: reload the page.`;
  }
}
