//! Spark's properties, and the executor requests that follow from them.

use std::collections::BTreeMap;

use crate::event::ProfileRequests;

const MIB: f64 = 1024.0 * 1024.0;

/// Minimum memory overhead of an executor.
const LEAST_OVERHEAD_BYTES: f64 = 384.0 * MIB;

/// The properties of one application.
pub(crate) struct Properties<'p>(pub(crate) &'p BTreeMap<String, String>);

impl Properties<'_> {
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(|value| value.trim())
    }

    pub(crate) fn number(&self, key: &str) -> Option<f64> {
        amount(self.get(key)?)
    }

    fn is_on(&self, key: &str) -> bool {
        self.get(key).is_some_and(|value| value.eq_ignore_ascii_case("true"))
    }

    /// A size in bytes; without a unit, the property is in MiB.
    fn bytes(&self, key: &str) -> Option<f64> {
        bytes(self.get(key)?)
    }

    pub(crate) fn has_shuffle_service(&self) -> bool {
        self.is_on("spark.shuffle.service.enabled")
    }

    /// Cores of an executor; Spark's default on YARN is 1.
    pub(crate) fn executor_cores(&self) -> f64 {
        self.number("spark.executor.cores").unwrap_or(1.0)
    }

    /// The memory of an executor's container, with the requests of its resource profile. As in Spark,
    /// an overhead that the profile does not set follows the heap of the properties.
    pub(crate) fn executor_bytes(&self, profile: &ProfileRequests) -> f64 {
        let heap = self.bytes("spark.executor.memory").unwrap_or(1024.0 * MIB);
        let factor = self.number("spark.executor.memoryOverheadFactor").unwrap_or(0.1);
        let overhead = self
            .bytes("spark.executor.memoryOverhead")
            .unwrap_or_else(|| (heap * factor).max(LEAST_OVERHEAD_BYTES));
        let python = self.bytes("spark.executor.pyspark.memory").unwrap_or(0.0);
        let off_heap = self.get("spark.memory.offHeap.size");
        let off_heap = off_heap.filter(|_| self.is_on("spark.memory.offHeap.enabled"));
        // Without a unit, Spark reads this property in bytes.
        let off_heap = off_heap.and_then(|size| amount(size).or_else(|| bytes(size)));
        let asked = |name: &str, otherwise: f64| {
            let request = profile.get(name);
            request.map_or(otherwise, |request| request.amount.max(0.0) * MIB)
        };
        asked("memory", heap)
            + asked("memoryOverhead", overhead)
            + asked("pyspark.memory", python)
            + asked("offHeap", off_heap.unwrap_or(0.0))
    }

    /// The number of requested executors; None with dynamic allocation.
    pub(crate) fn executors(&self) -> Option<f64> {
        let executors = self.number("spark.executor.instances");
        executors.filter(|_| !self.is_on("spark.dynamicAllocation.enabled"))
    }
}

/// Parses `512m`, `2g`, `1t`, `600`: binary units, MiB by default.
fn bytes(text: &str) -> Option<f64> {
    let lower = text.to_ascii_lowercase();
    let digits = lower.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &lower[digits.len()..] {
        "b" => 1.0,
        "k" | "kb" => 1024.0,
        "" | "m" | "mb" => MIB,
        "g" | "gb" => 1024.0 * MIB,
        "t" | "tb" => 1024.0 * 1024.0 * MIB,
        _ => return None,
    };
    amount(digits.trim()).map(|number| number * unit)
}

fn amount(text: &str) -> Option<f64> {
    let number = text.parse().ok();
    number.filter(|number: &f64| number.is_finite() && *number >= 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(properties: &[(&str, &str)]) -> BTreeMap<String, String> {
        let owned = |(key, value): &(&str, &str)| (key.to_string(), value.to_string());
        properties.iter().map(owned).collect()
    }

    #[test]
    fn an_executor_requests_its_heap_and_what_yarn_adds() {
        for (properties, mib) in [
            (&[][..], 1024.0 + 384.0),
            (&[("spark.executor.memory", "8g")], 8192.0 * 1.1),
            (&[("spark.executor.memory", "600m"), ("spark.executor.memoryOverhead", "100")], 700.0),
            (
                &[
                    ("spark.memory.offHeap.enabled", "true"),
                    ("spark.memory.offHeap.size", "1048576"),
                    ("spark.executor.pyspark.memory", "1g"),
                ],
                1024.0 + 384.0 + 1.0 + 1024.0,
            ),
            (&[("spark.executor.memory", "much")], 1024.0 + 384.0),
        ] {
            let properties = of(properties);
            assert_eq!(
                Properties(&properties).executor_bytes(&ProfileRequests::new()),
                mib * MIB,
                "{properties:?}"
            );
        }
    }

    #[test]
    fn executors_that_spark_adds_itself_are_no_setting() {
        let fixed = of(&[("spark.executor.instances", "4")]);
        assert_eq!(Properties(&fixed).executors(), Some(4.0));
        let dynamic =
            of(&[("spark.executor.instances", "4"), ("spark.dynamicAllocation.enabled", "true")]);
        assert_eq!(Properties(&dynamic).executors(), None);
    }
}
