use std::thread;
use std::time::{Duration, Instant};

use crate::cpu::Cpu;
use crate::disk::Disk;
use crate::error::ReplayError;
use crate::memory::Memory;
use crate::network::Network;
use crate::outcome::Outcome;
use crate::series::{Series, Slot};

/// A slot's work is spread over steps of about this length, so that an executor uses its share all
/// the time and not in bursts.
const STEP: Duration = Duration::from_millis(150);

/// What does the work of each resource.
pub(crate) struct Workers {
    pub(crate) cpu: Cpu,
    pub(crate) memory: Memory,
    pub(crate) disk: Option<Disk>,
    pub(crate) network: Option<Network>,
}

/// Does all the work of a series. A step takes at least its time. One that took longer delays all
/// that follow: the executor never catches up, as a task that waits for its input.
pub(crate) fn work_off(series: &Series, workers: &mut Workers) -> Result<Outcome, ReplayError> {
    let mut outcome = Outcome::default();
    let began = Instant::now();
    workers.cpu.start()?;
    for slot in &series.slots {
        workers.memory.hold(slot.memory_bytes)?;
        let steps = slot.length.as_nanos().div_ceil(STEP.as_nanos()).clamp(1, u128::from(u32::MAX));
        #[expect(clippy::cast_possible_truncation, reason = "clamped to u32")]
        let step = slot.length / steps as u32;
        for _ in 0..steps {
            take_step(slot, step, workers, &mut outcome)?;
        }
        outcome.undisturbed += slot.length;
    }
    outcome.taken = began.elapsed();
    Ok(outcome)
}

fn take_step(
    slot: &Slot,
    length: Duration,
    workers: &mut Workers,
    outcome: &mut Outcome,
) -> Result<(), ReplayError> {
    let began = Instant::now();
    let seconds = length.as_secs_f64();
    workers.memory.use_some();
    workers.cpu.burn(slot.cpu_cores * seconds)?;
    let burned = began.elapsed();
    match &mut workers.disk {
        Some(disk) => disk.transfer(slot.disk_bytes_per_s * seconds)?,
        None if slot.disk_bytes_per_s > 0.0 => {
            return Err(ReplayError::NoDevice { device: "disk", option: "--scratch" });
        }
        None => {}
    }
    let transferred = began.elapsed();
    if let Some(network) = &mut workers.network {
        network.send(slot.network_bytes_per_s * seconds)?;
    }
    let done = began.elapsed();
    match length.checked_sub(done) {
        Some(left) => thread::sleep(left),
        None => {
            outcome.late_cpu += burned;
            outcome.late_disk += transferred - burned;
            outcome.late_network += done - transferred;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workers() -> Workers {
        Workers { cpu: Cpu::new(), memory: Memory::new().unwrap(), disk: None, network: None }
    }

    fn slot(cpu_cores: f64) -> Slot {
        Slot {
            length: Duration::from_millis(600),
            cpu_cores,
            memory_bytes: 1e6,
            network_bytes_per_s: 0.0,
            disk_bytes_per_s: 0.0,
        }
    }

    #[test]
    fn takes_the_time_of_the_series_where_nothing_holds_it_back() {
        let series = Series { slots: vec![slot(0.01), slot(0.02)] };
        let outcome = work_off(&series, &mut workers()).unwrap();
        assert_eq!(outcome.undisturbed, Duration::from_millis(1200));
        assert!(outcome.taken >= outcome.undisturbed, "{outcome:?}");
    }

    #[test]
    fn work_that_one_thread_cannot_do_in_time_takes_longer() {
        let series = Series { slots: vec![slot(2.0)] };
        let outcome = work_off(&series, &mut workers()).unwrap();
        assert!(outcome.taken >= Duration::from_millis(1190), "{outcome:?}");
        assert!(outcome.late_cpu >= Duration::from_millis(1190), "{outcome:?}");
    }

    #[test]
    fn a_disk_that_is_not_named_is_no_silent_skip() {
        let one = Slot { disk_bytes_per_s: 1.0, ..slot(0.0) };
        let error = work_off(&Series { slots: vec![one] }, &mut workers()).unwrap_err();
        assert_eq!(error.to_string(), "the series uses the disk, and there is no --scratch");
    }
}
