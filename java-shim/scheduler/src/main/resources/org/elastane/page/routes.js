// The addresses of the views, behind the page's #.

const PLAIN = ["cluster", "nodes", "applications", "decisions"];

/** The view that a hash names; the cluster for an unknown one. */
export function routeOf(hash) {
  const [path, query = ""] = hash.replace(/^#/, "").split("?", 2);
  const slash = path.indexOf("/");
  const section = slash < 0 ? path : path.slice(0, slash);
  const id = slash < 0 ? "" : decoded(path.slice(slash + 1));
  const parameters = Object.fromEntries(new URLSearchParams(query));
  if (section === "nodes" && id) {
    return { view: "node", section, id, parameters };
  }
  if (section === "applications" && id) {
    return { view: "application", section, id, parameters };
  }
  const view = PLAIN.includes(section) ? section : "cluster";
  return { view, section: view, id: "", parameters };
}

export function nodeHref(node) {
  return `#nodes/${encodeURIComponent(node).replaceAll("%3A", ":")}`;
}

export function applicationHref(application) {
  return `#applications/${encodeURIComponent(application)}`;
}

export function decisionsHref(parameters) {
  const given = Object.entries(parameters).filter(([, value]) => value);
  return given.length ? `#decisions?${new URLSearchParams(given)}` : "#decisions";
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // A stray % in a link that somebody typed.
  }
}
