//! The recorder against a plain reference that keeps every sample.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use elastane_core::{Resources, SLOT_MS};
use elastane_runs::{
    ContainerKind, ContainerSample, CpuMeasured, Crowding, MAX_SLOTS, MOST_EXECUTOR_KINDS,
    RunRecorder,
};
use proptest::prelude::*;

const SLOT: i64 = SLOT_MS as i64;

fn usage(cpu_cores: f64, memory_bytes: f64) -> Resources {
    Resources {
        cpu_cores,
        memory_bytes,
        network_bytes_per_s: cpu_cores * 10.0,
        disk_bytes_per_s: cpu_cores * 3.0,
    }
}

fn record(containers: &[Vec<ContainerSample>]) -> RunRecorder {
    let mut recorder = RunRecorder::new();
    for (number, samples) in containers.iter().enumerate() {
        for sample in samples {
            let name = format!("container-{number}");
            recorder.add(name.as_str(), ContainerKind::DEFAULT_EXECUTOR, *sample);
        }
    }
    recorder
}

/// One container's slots, each computed from all samples that touch it.
fn reference_of_one(samples: &[ContainerSample]) -> Vec<Resources> {
    let end = samples.iter().map(|sample| sample.end_since_start_ms).max().unwrap_or(0);
    let slots = end.div_euclid(SLOT) + i64::from(end % SLOT > 0);
    let measured: Vec<Option<Resources>> = (0..slots)
        .map(|slot| {
            let (mut sum, mut memory, mut covered) = (Resources::ZERO, 0.0_f64, 0.0);
            for sample in samples {
                let end = sample.end_since_start_ms;
                let start = end - i64::from(sample.length_ms);
                let overlap = end.min((slot + 1) * SLOT) - start.max(slot * SLOT);
                if overlap > 0 {
                    sum += sample.usage * overlap as f64;
                    memory = memory.max(sample.usage.memory_bytes);
                    covered += overlap as f64;
                }
            }
            (covered > 0.0).then(|| Resources { memory_bytes: memory, ..sum * (1.0 / covered) })
        })
        .collect();
    let first = measured.iter().flatten().next().copied();
    let mut before = first.unwrap_or(Resources::ZERO);
    let fill = |value: &Option<Resources>| {
        before = value.unwrap_or(before);
        before
    };
    measured.iter().map(fill).collect()
}

fn reference(containers: &[Vec<ContainerSample>]) -> Vec<Resources> {
    let series: Vec<Vec<Resources>> =
        containers.iter().map(|samples| reference_of_one(samples)).collect();
    let longest = series.iter().map(Vec::len).max().unwrap_or(0);
    (0..longest)
        .map(|slot| {
            let alive: Vec<Resources> =
                series.iter().filter_map(|s| s.get(slot).copied()).collect();
            let sum = alive.iter().fold(Resources::ZERO, |sum, value| sum + *value);
            sum * (1.0 / alive.len() as f64)
        })
        .collect()
}

fn assert_close(left: &[Resources], right: &[Resources]) {
    assert_eq!(left.len(), right.len());
    for (slot, (left, right)) in left.iter().zip(right).enumerate() {
        for (a, b) in left.to_array().into_iter().zip(right.to_array()) {
            assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "slot {slot}: {a} {b}");
        }
    }
}

/// Samples in the order of time, with gaps, from 0 on.
fn container() -> impl Strategy<Value = Vec<ContainerSample>> {
    let sample = (0..9_000_i64, 1..7_000_u32, 0.0..8.0, 0.0..1e9);
    proptest::collection::vec(sample, 1..12).prop_map(|parts| {
        let mut at = 0;
        let next = |(gap, length_ms, cores, memory): (i64, u32, f64, f64)| {
            at += gap + i64::from(length_ms);
            ContainerSample::new(at, length_ms, usage(cores, memory))
        };
        parts.into_iter().map(next).collect()
    })
}

/// Ends that cannot be, and some that come again, late or with gaps between them.
fn end() -> impl Strategy<Value = i64> {
    prop_oneof![any::<i64>(), (0..20_i64).prop_map(|number| number * 1_500)]
}

proptest! {
    #[test]
    fn series_equal_the_reference(containers in proptest::collection::vec(container(), 1..5)) {
        let recorder = record(&containers);
        let series = recorder.series();
        prop_assert_eq!(series.len(), 1);
        prop_assert_eq!(series[0].containers as usize, containers.len());
        prop_assert_eq!(recorder.left_out(), 0);
        assert_close(&series[0].slots, &reference(&containers));
    }

    #[test]
    fn the_order_of_containers_does_not_matter(first in container(), second in container()) {
        let forward = record(&[first.clone(), second.clone()]).series();
        let backward = record(&[second, first]).series();
        assert_close(&forward[0].slots, &backward[0].slots);
    }

    #[test]
    fn no_sample_makes_a_series_that_is_too_long_or_invalid(
        samples in proptest::collection::vec((end(), any::<u32>(), any::<f64>(), 0.0..9.0), 0..9),
    ) {
        let mut recorder = RunRecorder::new();
        for (end_ms, length_ms, cores, waited) in samples {
            let sample = ContainerSample::new(end_ms, length_ms, usage(cores, 1.0));
            let sample = sample.crowded(&crowding(0.1, waited), None, Resources::ZERO);
            recorder.add("c", ContainerKind::DEFAULT_EXECUTOR, sample);
        }
        for series in recorder.series() {
            prop_assert!(series.slots.len() <= MAX_SLOTS);
            prop_assert!(series.slots.iter().all(|slot| slot.first_invalid().is_none()));
        }
    }
}

fn sample(end_ms: i64, length_ms: u32, cores: f64, memory: f64) -> ContainerSample {
    ContainerSample::new(end_ms, length_ms, usage(cores, memory))
}

#[test]
fn a_sample_over_two_slots_is_shared_out_by_overlap() {
    let samples = vec![sample(2_000, 2_000, 3.0, 10.0), sample(5_000, 3_000, 6.0, 40.0)];
    let series = record(&[samples]).series();
    let cores: Vec<f64> = series[0].slots.iter().map(|slot| slot.cpu_cores).collect();
    let memory: Vec<f64> = series[0].slots.iter().map(|s| s.memory_bytes).collect();
    assert_eq!(cores, [4.0, 6.0]);
    assert_eq!(memory, [40.0, 40.0]);
}

#[test]
fn gaps_take_the_value_before_and_at_the_start_the_first_one() {
    let samples = vec![sample(6_000, 3_000, 1.0, 1.0), sample(15_000, 3_000, 5.0, 5.0)];
    let series = record(&[samples]).series();
    let cores: Vec<f64> = series[0].slots.iter().map(|slot| slot.cpu_cores).collect();
    assert_eq!(cores, [1.0, 1.0, 1.0, 1.0, 5.0]);
}

#[test]
fn a_container_counts_only_while_it_lives() {
    let short = vec![sample(3_000, 3_000, 4.0, 4.0)];
    let long = vec![sample(3_000, 3_000, 2.0, 2.0), sample(6_000, 3_000, 2.0, 2.0)];
    let series = record(&[short, long]).series();
    let cores: Vec<f64> = series[0].slots.iter().map(|slot| slot.cpu_cores).collect();
    assert_eq!(cores, [3.0, 2.0]);
}

#[test]
fn kinds_are_kept_apart() {
    let mut recorder = RunRecorder::new();
    recorder.add("e", ContainerKind::DEFAULT_EXECUTOR, sample(3_000, 3_000, 2.0, 2.0));
    let master = ContainerKind::ApplicationMaster;
    recorder.add("m", master, sample(3_000, 3_000, 1.0, 1.0));
    let kinds: Vec<ContainerKind> = recorder.series().iter().map(|s| s.kind).collect();
    assert_eq!(kinds, [master, ContainerKind::DEFAULT_EXECUTOR]);
}

proptest! {
    #[test]
    fn executors_of_one_priority_are_recorded_as_if_no_others_had_been(
        first in proptest::collection::vec(container(), 1..4),
        second in proptest::collection::vec(container(), 1..4),
    ) {
        let mut both = RunRecorder::new();
        for (priority, containers) in [(20, &first), (10, &second)] {
            let kind = ContainerKind::Executor { priority };
            for (number, samples) in containers.iter().enumerate() {
                for sample in samples {
                    let name = format!("container-{priority}-{number}");
                    both.add(name.as_str(), kind, *sample);
                }
            }
        }
        let series = both.series();
        let priorities: Vec<_> = series.iter().map(|series| series.kind.priority()).collect();
        prop_assert_eq!(priorities, [Some(10), Some(20)]);
        assert_close(&series[0].slots, &reference(&second));
        assert_close(&series[1].slots, &reference(&first));
    }
}

#[test]
fn an_application_that_asks_at_ever_new_priorities_is_recorded_up_to_a_bound() {
    let mut recorder = RunRecorder::new();
    for priority in 0..MOST_EXECUTOR_KINDS as i32 + 5 {
        let kind = ContainerKind::Executor { priority };
        let name = format!("container-{priority}");
        recorder.add(name.as_str(), kind, sample(3_000, 3_000, 1.0, 1.0));
    }
    let master = ContainerKind::ApplicationMaster;
    recorder.add("master", master, sample(3_000, 3_000, 1.0, 1.0));
    assert_eq!(recorder.series().len(), MOST_EXECUTOR_KINDS + 1);
    assert_eq!(recorder.left_out(), 5);
    let written = postcard::to_stdvec(&recorder).unwrap();
    assert_eq!(postcard::from_bytes(&written), Ok(recorder));
}

#[test]
fn asking_for_the_series_does_not_end_the_recording() {
    let mut recorder = record(&[vec![sample(1_000, 1_000, 2.0, 2.0)]]);
    assert_eq!(recorder.series()[0].slots, [usage(2.0, 2.0)]);
    recorder.add("container-0", ContainerKind::DEFAULT_EXECUTOR, sample(2_000, 1_000, 4.0, 2.0));
    assert_eq!(recorder.series()[0].slots, [usage(3.0, 2.0)]);
}

#[test]
fn what_cannot_be_used_is_left_out_and_counted() {
    let day = MAX_SLOTS as i64 * SLOT;
    for (end_ms, length_ms, cores) in [
        (0, 3_000, 1.0),
        (-1, 3_000, 1.0),
        (3_000, 0, 1.0),
        (day + 3_000, 3_000, 1.0),
        (15_000, 3_000, f64::NAN),
        (15_000, 3_000, -1.0),
        (15_000, 3_000, 1e300),
        (3_000, 3_000, 1.0),
    ] {
        let mut recorder = record(&[vec![sample(12_000, 3_000, 1.0, 1.0)]]);
        let before = recorder.series();
        let kind = ContainerKind::DEFAULT_EXECUTOR;
        recorder.add("container-0", kind, sample(end_ms, length_ms, cores, 1.0));
        assert_eq!(recorder.left_out(), 1, "sample to {end_ms} of {length_ms} ms");
        assert_eq!(recorder.series(), before);
    }
}

/// Among very many, on a node of four cores.
fn crowding(used_cores: f64, waited_threads: f64) -> Crowding {
    Crowding::new(&CpuMeasured {
        used_cores,
        waited_threads,
        throttled: 0.0,
        ready_threads_of_node: 1e12,
        node_cores: 4.0,
    })
}

/// Samples of 3 s that follow each other, of a container on a node of four cores.
fn crowded(parts: &[(f64, f64)]) -> Vec<ContainerSample> {
    let waited = |(number, (cores, waited)): (usize, &(f64, f64))| {
        let crowding = crowding(*cores, *waited);
        let capacity = Resources::from_array([4.0, 0.0, 0.0, 0.0]);
        let sample = sample((number as i64 + 1) * 3_000, 3_000, *cores, 7.0);
        sample.crowded(&crowding, None, capacity)
    };
    parts.iter().enumerate().map(waited).collect()
}

fn cores_of(samples: Vec<ContainerSample>) -> Vec<f64> {
    record(&[samples]).series()[0].slots.iter().map(|slot| slot.cpu_cores).collect()
}

#[test]
fn what_waited_for_a_core_is_recorded_as_on_a_free_node() {
    // One thread got half of a core: the same work in half of the time.
    assert_eq!(cores_of(crowded(&[(0.5, 0.5), (0.5, 0.5)])), [1.0]);
    // It slept for half of the time, and waited for half of the rest.
    assert_eq!(cores_of(crowded(&[(0.25, 0.25); 4])), [1.0 / 3.0; 3]);
    // Four threads on two cores; on a free node each has its own.
    assert_eq!(cores_of(crowded(&[(2.0, 2.0), (2.0, 2.0), (1.0, 0.0)])), [4.0, 1.0]);
}

#[test]
fn samples_that_come_again_are_left_out() {
    let samples = crowded(&[(0.2, 0.8); 6]);
    let again = [&samples[..], &samples[4..]].concat();
    let recorder = record(&[again]);
    assert_eq!(recorder.left_out(), 2);
    assert_eq!(recorder.series(), record(&[samples]).series());
}

#[test]
fn in_a_gap_it_was_as_crowded_as_in_the_next_sample() {
    let mut samples = crowded(&[(0.5, 0.5); 8]);
    samples.drain(2..6);
    assert_eq!(cores_of(samples), [1.0; 4]);
}

#[test]
fn what_waited_is_not_taken_for_more_than_its_node_can_do() {
    let waited = crowding(0.5, 0.5);
    let disk = Resources { disk_bytes_per_s: 75.0, ..usage(0.5, 7.0) };
    let sample = ContainerSample::new(3_000, 3_000, disk);
    let capacity = Resources { disk_bytes_per_s: 100.0, ..Resources::ZERO };
    let sample = sample.crowded(&waited, None, capacity);
    let series = record(&[vec![sample]]).series();
    assert_eq!(series[0].slots[0].disk_bytes_per_s, 100.0);
}

#[test]
fn an_executor_whose_master_waited_is_recorded_as_if_both_had_been_on_free_nodes() {
    let (idle, master) = (crowding(0.0, 0.0), crowding(0.25, 0.75));
    let samples = (1..=4).map(|number| {
        let sample = sample(number * 3_000, 3_000, 0.0, 7.0);
        sample.crowded(&idle, Some(&master), Resources::ZERO)
    });
    assert_eq!(cores_of(samples.collect()), [0.0]);
}

proptest! {
    #[test]
    fn waits_change_neither_the_work_nor_the_memory_and_make_no_run_longer(
        parts in proptest::collection::vec((0.0..4.0_f64, 0.0..8.0_f64), 1..40),
    ) {
        let with_waits = record(&[crowded(&parts)]).series();
        let without = parts.iter().map(|(cores, _)| (*cores, 0.0)).collect::<Vec<_>>();
        let without = record(&[crowded(&without)]).series();
        let (slots, before) = (&with_waits[0].slots, &without[0].slots);
        prop_assert!(slots.len() <= before.len());
        prop_assert!(slots.iter().all(|slot| slot.memory_bytes == 7.0));
        prop_assert!(slots.iter().all(|slot| slot.cpu_cores < 4.01));
        // The last slot may be covered in part: its mean then stands for the whole slot.
        let (last, whole) = slots.split_last().unwrap();
        let work = |slots: &[Resources]| slots.iter().map(|slot| slot.cpu_cores).sum::<f64>();
        let total = work(before);
        prop_assert!(work(whole) <= total * 1.001 + 1e-9);
        prop_assert!(work(whole) + last.cpu_cores >= total * 0.999 - 1e-9);
    }
}

#[test]
fn a_container_stops_growing_after_a_day() {
    let day = MAX_SLOTS as i64 * SLOT;
    let last = sample(day, 3_000, 1.0, 1.0);
    let series = record(&[vec![last, sample(day + 1_000, 3_000, 2.0, 2.0)]]).series();
    assert_eq!(series[0].slots.len(), MAX_SLOTS);
}

#[test]
fn a_recorder_that_was_written_and_read_goes_on_where_it_was() {
    let add = |recorder: &mut RunRecorder, container: &str, end_ms| {
        let sample = sample(end_ms, 2_500, end_ms as f64 / 1e4, 5e6);
        let sample = sample.crowded(&crowding(0.5, 0.4), None, Resources::ZERO);
        recorder.add(container, ContainerKind::DEFAULT_EXECUTOR, sample);
    };
    let mut whole = RunRecorder::new();
    let mut parts = RunRecorder::new();
    for end_ms in (2_500..60_000).step_by(2_500) {
        for container in ["a", "b"] {
            add(&mut whole, container, end_ms);
            add(&mut parts, container, end_ms);
            let written = postcard::to_stdvec(&parts).unwrap();
            parts = postcard::from_bytes(&written).unwrap();
        }
    }
    assert_eq!(parts, whole);
    assert_eq!(parts.series(), whole.series());
}

#[test]
fn a_written_recorder_with_slots_that_cannot_be_is_refused() {
    let mut recorder = RunRecorder::new();
    recorder.add("a", ContainerKind::DEFAULT_EXECUTOR, sample(9_000, 9_000, 1.0, 1.0));
    let written = serde_json::to_string(&recorder).unwrap();
    assert!(written.contains("\"slot\":2,\"closed\":2"), "{written}");
    for (from, to) in [
        ("\"slot\":2", "\"slot\":28800"),
        ("\"closed\":2", "\"closed\":4"),
        ("\"kind\":1", "\"kind\":4294967297"),
        ("\"measured_ms\":9000", "\"measured_ms\":-1"),
        ("\"measured_ms\":9000", "\"measured_ms\":86400001"),
        ("\"free_ms\":9000", "\"free_ms\":9001"),
        ("\"free_ms\":9000", "\"free_ms\":-1"),
        // The second slot, where the open one is the third.
        ("\"free_ms\":9000", "\"free_ms\":5999"),
        ("\"totals\":{\"1\":", "\"totals\":{\"2\":"),
        ("\"covered_ms\":3000.0", "\"covered_ms\":0.5"),
        ("\"covered_ms\":3000.0", "\"covered_ms\":3001.0"),
        ("\"sum\":{\"cpu_cores\":3000.0", "\"sum\":{\"cpu_cores\":-1.0"),
        ("\"last\":{\"cpu_cores\":1.0", "\"last\":{\"cpu_cores\":1e101"),
        ("\"slots\":[{\"sum\":{\"cpu_cores\":1.0", "\"slots\":[{\"sum\":{\"cpu_cores\":-1.0"),
    ] {
        let changed = written.replace(from, to);
        assert_ne!(changed, written);
        serde_json::from_str::<RunRecorder>(&changed).unwrap_err();
    }
}
