use std::hint::black_box;

use nix::time::{ClockId, clock_gettime};

use crate::error::ReplayError;

/// Iterations between two looks at the clock: some 20 us.
const ITERATIONS: u32 = 20_000;

/// Burns CPU time of this thread. What other work costs the thread (reading, waking up) counts, so
/// that the executor uses what its series says.
#[derive(Debug)]
pub(crate) struct Cpu {
    owed_s: f64,
    used_before_s: f64,
}

impl Cpu {
    pub(crate) fn new() -> Self {
        Self { owed_s: 0.0, used_before_s: 0.0 }
    }

    /// Starts to count: the start of the process is not part of the series.
    pub(crate) fn start(&mut self) -> Result<(), ReplayError> {
        self.used_before_s = thread_s()?;
        Ok(())
    }

    /// Burns until the thread has used `seconds` more than it should have before.
    pub(crate) fn burn(&mut self, seconds: f64) -> Result<(), ReplayError> {
        self.owed_s += seconds;
        while thread_s()? - self.used_before_s < self.owed_s {
            let mut value = 0x9E37_79B9_u32;
            for step in 0..ITERATIONS {
                value = black_box(value.wrapping_mul(0x0019_660D).wrapping_add(step));
            }
        }
        Ok(())
    }
}

fn thread_s() -> Result<f64, ReplayError> {
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_err(ReplayError::CpuTime)?;
    #[expect(clippy::cast_precision_loss, reason = "seconds of CPU time are far below 2^53 ns")]
    Ok(time.tv_sec() as f64 + time.tv_nsec() as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn burns_the_cpu_time_that_is_asked_for() {
        let mut cpu = Cpu::new();
        cpu.start().unwrap();
        for _ in 0..10 {
            cpu.burn(0.01).unwrap();
        }
        let used = thread_s().unwrap() - cpu.used_before_s;
        assert!((0.1..0.11).contains(&used), "{used}");
    }
}
