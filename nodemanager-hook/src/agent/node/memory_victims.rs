//! The containers that give way when the node's memory runs short.

use elastane_protocol::MemoryVictim;

use crate::container_id::ContainerId;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VictimCandidate {
    pub id: ContainerId,
    /// Only the order counts.
    pub started: u64,
    /// 0 if unknown.
    pub request_bytes: u64,
    pub resident_bytes: u64,
}

/// The containers that started after the requests of older ones had filled the node, youngest first.
/// A container with an unknown request is never overcommitted.
pub fn overcommitted(
    mut containers: Vec<VictimCandidate>,
    physical_bytes: u64,
) -> Vec<VictimCandidate> {
    containers.sort_by(|one, other| (one.started, &one.id).cmp(&(other.started, &other.id)));
    let mut requested: u64 = 0;
    containers.retain(|one| {
        requested = requested.saturating_add(one.request_bytes);
        one.request_bytes > 0 && requested > physical_bytes
    });
    containers.reverse();
    containers
}

/// The youngest overcommitted containers whose resident memory covers the shortage, youngest first.
pub fn memory_victims(youngest_first: Vec<VictimCandidate>, short_bytes: u64) -> Vec<MemoryVictim> {
    let mut freed: u64 = 0;
    youngest_first
        .into_iter()
        .take_while(|one| {
            let is_enough = freed >= short_bytes;
            freed = freed.saturating_add(one.resident_bytes);
            !is_enough
        })
        .map(|one| MemoryVictim {
            container: one.id.to_string(),
            resident_bytes: one.resident_bytes,
            short_bytes,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn asked(
        number: u64,
        started: u64,
        request_bytes: u64,
        resident_bytes: u64,
    ) -> VictimCandidate {
        VictimCandidate {
            id: format!("container_1_1_1_{number}").parse().unwrap(),
            started,
            request_bytes,
            resident_bytes,
        }
    }

    fn named(victims: &[MemoryVictim]) -> Vec<&str> {
        let ids = victims.iter().map(|victim| victim.container.as_str());
        ids.map(|id| id.strip_prefix("container_1_1_1_").unwrap()).collect()
    }

    #[test]
    fn the_youngest_overcommitted_containers_give_way_until_the_shortage_is_covered() {
        let containers = vec![
            asked(1, 10, 60, 50),
            asked(4, 40, 30, 5),
            asked(2, 20, 40, 40),
            asked(3, 30, 20, 15),
        ];
        let victims = |short| memory_victims(overcommitted(containers.clone(), 100), short);
        assert_eq!(named(&victims(5)), ["4"]);
        assert_eq!(named(&victims(6)), ["4", "3"]);
        assert_eq!(named(&victims(1000)), ["4", "3"]);
        assert_eq!(victims(6)[0].short_bytes, 6);
        assert!(victims(0).is_empty());
    }

    #[test]
    fn a_container_with_an_unknown_request_is_not_named() {
        let containers = vec![asked(1, 1, 100, 50), asked(2, 2, 0, 50), asked(3, 3, 1, 5)];
        let victims = memory_victims(overcommitted(containers, 100), 50);
        assert_eq!(named(&victims), ["3"]);
    }

    proptest! {
        #[test]
        fn a_container_that_fits_by_requests_never_gives_way(
            rows in proptest::collection::vec((0..20_u64, 1..50_u64, 0..80_u64), 0..12),
            physical in 0..300_u64,
            short in 1..200_u64,
        ) {
            let containers: Vec<VictimCandidate> = (0..)
                .zip(&rows)
                .map(|(number, (started, request, resident))| {
                    asked(number, *started, *request, *resident)
                })
                .collect();
            let victims = memory_victims(overcommitted(containers.clone(), physical), short);
            let is_victim = |one: &VictimCandidate| {
                victims.iter().any(|victim| victim.container == one.id.to_string())
            };
            let mut in_order = containers.clone();
            in_order.sort_by_key(|one| (one.started, one.id.clone()));
            let mut requested = 0;
            for one in &in_order {
                requested += one.request_bytes;
                prop_assert!(requested > physical || !is_victim(one));
            }
            // No more victims than needed, and no older one before a younger one.
            let older: Vec<bool> = in_order.iter().map(is_victim).collect();
            let first = older.iter().position(|is| *is).unwrap_or(older.len());
            prop_assert!(older[first..].iter().all(|is| *is));
            let freed: u64 = victims.iter().map(|victim| victim.resident_bytes).sum();
            let last = victims.last().map_or(0, |victim| victim.resident_bytes);
            prop_assert!(victims.is_empty() || freed - last < short);
        }
    }
}
