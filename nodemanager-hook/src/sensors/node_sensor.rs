//! Usage of the whole node, and the pressure on it.

use std::{fs, io, time::Instant};

use elastane_protocol::Pressure;

use super::{
    Device, HeldMemory, Reading,
    group_files::DiskTraffic,
    growth::UsageGrowth,
    proc_fs::{HeldFile, ProcFs},
};

const SECTOR_BYTES: u64 = 512;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemoryState {
    pub total_bytes: u64,
    /// Memory that processes can still get without swapping.
    pub available_bytes: u64,
}

/// Turns the node's counters into readings.
#[derive(Debug, Default)]
pub struct NodeSensor {
    disks: Vec<Device>,
    usage: UsageGrowth,
    stat: HeldFile,
    meminfo: HeldFile,
    diskstats: HeldFile,
}

impl NodeSensor {
    pub fn new(disks: Vec<Device>) -> Self {
        Self { disks, ..Self::default() }
    }

    pub fn read(&mut self, proc: &ProcFs, now: Instant) -> io::Result<(Reading, MemoryState)> {
        let parse = |text: &str| parse_cpu(text, proc);
        let cpu_nanoseconds = proc.of_node("stat", &mut self.stat, parse)?;
        let (memory, held) = proc.of_node("meminfo", &mut self.meminfo, parse_memory)?;
        let parse = |text: &str| Some(parse_disks(text, &self.disks));
        let traffic = proc.of_node("diskstats", &mut self.diskstats, parse)?;
        let reading = self.usage.reading(cpu_nanoseconds, traffic, held, now);
        Ok((reading, memory))
    }

    /// Reads the memory alone, and leaves the counters of the time since the last reading to the next one. No reading before
    /// the first one of all.
    pub fn read_memory(&mut self, proc: &ProcFs) -> io::Result<(Option<Reading>, MemoryState)> {
        let (memory, held) = proc.of_node("meminfo", &mut self.meminfo, parse_memory)?;
        Ok((self.usage.between(held), memory))
    }
}

/// The share of the last 10 s in which processes waited; `None` where the kernel does not tell.
pub fn pressure(proc: &ProcFs) -> Option<Pressure> {
    let share = |resource: &str| {
        let path = proc.path("pressure").join(resource);
        parse_pressure(&fs::read_to_string(path).ok()?)
    };
    Some(Pressure { cpu: share("cpu")?, memory: share("memory")?, disk: share("io")? })
}

/// `cpu user nice system idle iowait irq softirq steal guest guest_nice`. User and nice include the
/// guests; nobody on this node used stolen time.
fn parse_cpu(text: &str, proc: &ProcFs) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let fields: Option<Vec<u64>> =
        line.split_ascii_whitespace().map(|field| field.parse().ok()).collect();
    let &[user, nice, system, _, _, irq, softirq, ..] = fields?.as_slice() else {
        return None;
    };
    let busy = [user, nice, system, irq, softirq].into_iter();
    let ticks = busy.fold(0, u64::saturating_add);
    Some(ticks.saturating_mul(proc.nanoseconds_per_tick()))
}

fn parse_memory(text: &str) -> Option<(MemoryState, HeldMemory)> {
    let bytes = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key))?;
        let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        kib.checked_mul(1024)
    };
    let state =
        MemoryState { total_bytes: bytes("MemTotal:")?, available_bytes: bytes("MemAvailable:")? };
    let (cached, buffers) = (bytes("Cached:"), bytes("Buffers:"));
    let held = HeldMemory {
        resident_bytes: state.total_bytes.saturating_sub(state.available_bytes),
        anonymous_bytes: bytes("AnonPages:").unwrap_or(0),
        file_bytes: cached.unwrap_or(0).saturating_add(buffers.unwrap_or(0)),
        ..HeldMemory::default()
    };
    Some((state, held))
}

/// Lines of `major minor name reads merged sectors-read ms writes merged sectors-written …`.
fn parse_disks(text: &str, disks: &[Device]) -> DiskTraffic {
    let mut sum = DiskTraffic::default();
    for line in text.lines() {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let [major, minor, _, _, _, read, _, _, _, written, ..] = fields[..] else {
            continue;
        };
        let device = format!("{major}:{minor}").parse();
        if device.is_ok_and(|device| disks.contains(&device)) {
            let bytes = |sectors: &str| {
                let sectors: u64 = sectors.parse().unwrap_or(0);
                sectors.saturating_mul(SECTOR_BYTES)
            };
            sum.add(DiskTraffic { read_bytes: bytes(read), written_bytes: bytes(written) });
        }
    }
    sum
}

/// `some avg10=1.50 avg60=… total=…`, in percent; returns a share.
fn parse_pressure(text: &str) -> Option<f32> {
    let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
    let mut words = some.split_ascii_whitespace();
    let percent: f32 = words.find_map(|word| word.strip_prefix("avg10="))?.parse().ok()?;
    percent.is_finite().then(|| (percent / 100.0).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use std::{path::Path, time::Duration};

    use super::*;
    use crate::sensors::Counted;

    fn write(root: &Path, busy_ticks: u64, read: u64, written: u64) {
        let stat = format!("cpu  {busy_ticks} 1 1 900 90 1 1 77 5 5\ncpu0 1 1 1 1\n");
        fs::write(root.join("stat"), stat).unwrap();
        let meminfo = "MemTotal:  1000 kB\nMemFree: 1 kB\nMemAvailable:  400 kB\nBuffers: 1 kB\n\
                       Cached:  9 kB\nAnonPages:  50 kB\n";
        fs::write(root.join("meminfo"), meminfo).unwrap();
        let disks = format!(
            "   8  0 sda 5 0 {read} 1 5 0 {written} 1 0 1 1\n   8  1 sda1 5 0 99 1 5 0 99 1 0 1 1\n"
        );
        fs::write(root.join("diskstats"), disks).unwrap();
    }

    #[test]
    fn growth_of_the_nodes_counters_becomes_readings() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        let disk = Device { major: 8, minor: 0 };
        let mut sensor = NodeSensor::new(vec![disk]);
        let proc = ProcFs::new(root);
        let start = Instant::now();
        write(root, 100, 10, 20);
        sensor.read(&proc, start).unwrap();
        write(root, 150, 12, 24);
        let (reading, memory) = sensor.read(&proc, start + Duration::from_secs(1)).unwrap();
        assert_eq!(reading.counted.cpu_nanoseconds, 500_000_000);
        assert_eq!(reading.counted.disk_read_bytes, 1024);
        assert_eq!(reading.counted.disk_written_bytes, 2048);
        assert_eq!(reading.held.resident_bytes, 600 * 1024);
        assert_eq!(reading.held.anonymous_bytes, 50 * 1024);
        assert_eq!(reading.held.file_bytes, 10 * 1024);
        assert_eq!(memory.total_bytes - memory.available_bytes, 600 * 1024);
    }

    #[test]
    fn memory_between_two_readings_takes_nothing_of_the_counters() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        let (mut sensor, proc) = (NodeSensor::new(Vec::new()), ProcFs::new(root));
        let start = Instant::now();
        write(root, 100, 0, 0);
        let (none, memory) = sensor.read_memory(&proc).unwrap();
        assert!(none.is_none() && memory.available_bytes == 400 * 1024);
        sensor.read(&proc, start).unwrap();
        write(root, 130, 0, 0);
        let between = sensor.read_memory(&proc).unwrap().0.unwrap();
        assert_eq!(
            (between.since, between.at, between.counted),
            (start, start, Counted::default())
        );
        assert_eq!(between.held.resident_bytes, 600 * 1024);
        let (last, _) = sensor.read(&proc, start + Duration::from_secs(3)).unwrap();
        assert_eq!(last.counted.cpu_nanoseconds, 300_000_000);
    }

    #[test]
    fn a_malformed_file_is_named() {
        let directory = tempfile::tempdir().unwrap();
        write(directory.path(), 1, 1, 1);
        fs::write(directory.path().join("meminfo"), "MemTotal: lots\n").unwrap();
        let mut sensor = NodeSensor::new(Vec::new());
        let proc = ProcFs::new(directory.path());
        let error = sensor.read(&proc, Instant::now()).unwrap_err().to_string();
        assert!(error.ends_with("meminfo is not as expected"), "{error}");
    }

    #[test]
    fn pressure_is_a_share_and_none_where_the_kernel_does_not_tell() {
        let text = "some avg10=52.50 avg60=1.00 avg300=0.00 total=5\nfull avg10=0.00 total=0\n";
        assert_eq!(parse_pressure(text), Some(0.525));
        assert_eq!(parse_pressure("full avg10=1.00\n"), None);
        assert_eq!(pressure(&ProcFs::new(Path::new("/does/not/exist"))), None);
    }

    #[test]
    fn this_node_can_be_read() {
        let proc = ProcFs::new(Path::new("/proc"));
        let mut sensor = NodeSensor::new(Vec::new());
        let (reading, memory) = sensor.read(&proc, Instant::now()).unwrap();
        assert!(reading.held.resident_bytes > 1 << 20);
        assert!(memory.available_bytes < memory.total_bytes);
    }
}
