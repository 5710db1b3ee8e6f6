//! Allocated and used amounts, integrated over time.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Held {
    AllocatedCores,
    UsedCores,
    AllocatedMemory,
    UsedMemory,
}

#[derive(Debug, Default)]
pub(super) struct Meter {
    now: [f64; 4],
    since_s: [f64; 4],
    integral: [f64; 4],
}

impl Meter {
    pub(super) fn add(&mut self, held: Held, amount: f64, now_s: f64) {
        let at = held as usize;
        self.integral[at] += self.now[at] * (now_s - self.since_s[at]);
        self.since_s[at] = now_s;
        self.now[at] += amount;
    }

    pub(super) fn integral(&mut self, held: Held, now_s: f64) -> f64 {
        self.add(held, 0.0, now_s);
        self.integral[held as usize]
    }
}
