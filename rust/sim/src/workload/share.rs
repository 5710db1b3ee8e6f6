//! How much of a cluster a request is.

use elastane_core::Resources;
use elastane_core::cluster::Request;

/// The larger of a request's parts of a cluster's memory and virtual cores; above 0, so that a time can be divided by
/// the shares of requests for nothing, too.
pub(crate) fn dominant_share(request: Request, cluster: Resources) -> f64 {
    let part = |amount: f64, whole: f64| if whole > 0.0 { amount / whole } else { 0.0 };
    let memory = part(request.memory_bytes as f64, cluster.memory_bytes);
    let cores = part(f64::from(request.vcores), cluster.cpu_cores);
    memory.max(cores).max(f64::MIN_POSITIVE)
}
