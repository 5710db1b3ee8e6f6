// The limits of a container: their names, and their amounts with units.

import { cores, memory, NOTHING, perSecond } from "./amounts.js";

const KINDS = {
  cpu_weight_cores: ["CPU weight", cores],
  cpu_cap_cores: ["CPU cap", cores],
  memory_bytes: ["memory", memory],
  disk_cap_bytes_per_s: ["disk cap", perSecond],
  network_weight_bytes_per_s: ["network weight", perSecond],
  network_cap_bytes_per_s: ["network cap", perSecond],
};

export function limitName({ limit }) {
  return kind(limit)[0];
}

/** Null is no limit. */
export function limitAmount({ limit }, value) {
  return value === null ? NOTHING : kind(limit)[1](value);
}

function kind(limit) {
  return KINDS[limit] ?? [limit, String];
}
