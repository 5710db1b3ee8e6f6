// What the heat map can show of a node: a share of its physical size.

import { cores, gibOfMb, isNumber, perSecond } from "./amounts.js";

function share(part, whole) {
  return isNumber(part) && whole > 0 ? part / whole : null;
}

function ofMemory(field) {
  return {
    of: (node) => share(node[field], node.physical_memory_mb),
    words: (node) => `${gibOfMb(node[field])} of ${gibOfMb(node.physical_memory_mb)}`,
  };
}

function ofCpu(field) {
  return {
    of: (node) => share(node[field], node.physical_cpu_cores || node.physical_vcores),
    words: (node) =>
      node.physical_cpu_cores > 0
        ? `${cores(node[field])} of ${cores(node.physical_cpu_cores)}`
        : `${cores(node[field])} of ${node.physical_vcores} virtual`,
  };
}

function ofTraffic(resource) {
  const [used, physical] = [`used_${resource}_bytes_per_s`, `physical_${resource}_bytes_per_s`];
  return {
    of: (node) => share(node[used], node[physical]),
    words: (node) => `${perSecond(node[used])} of ${perSecond(node[physical])}`,
  };
}

export const MEASURES = {
  used_cpu: { name: "used CPU ÷ physical", ...ofCpu("used_cpu_cores") },
  used_memory: { name: "used memory ÷ physical", ...ofMemory("used_memory_mb") },
  used_disk: { name: "used disk ÷ physical", ...ofTraffic("disk") },
  used_network: { name: "used network ÷ physical", ...ofTraffic("network") },
  booked_memory: { name: "booked memory ÷ physical", ...ofMemory("booked_memory_mb") },
  planned_cpu: { name: "planned CPU ÷ physical", ...ofCpu("planned_cpu_cores") },
};

/** Whether no report is recent enough to act on. While the core gives no answer, that is not known. */
export function isSilent(node) {
  return node.report_is_fresh === false;
}
