use proptest::prelude::*;

use super::*;

/// A file as a JVM writes it, little-endian.
struct Image {
    bytes: Vec<u8>,
    count: i32,
}

impl Image {
    fn empty() -> Self {
        let mut bytes = vec![0; entries::HEADER_BYTES];
        bytes[..8].copy_from_slice(&[0xca, 0xfe, 0xc0, 0xc0, 1, 2, 0, 1]);
        bytes[24..28].copy_from_slice(&(entries::HEADER_BYTES as i32).to_le_bytes());
        Self { bytes, count: 0 }
    }

    fn of(collector: &str) -> Self {
        let mut image = Self::empty();
        image.text("java.property.java.vm.specification.version", "17");
        image.text("sun.rt.jvmCapabilities", "1100");
        image.text("sun.gc.collector.0.name", collector);
        for (generation, used, capacity) in [(0, 100, 20_480), (1, 5000, 40_960)] {
            let prefix = format!("sun.gc.generation.{generation}");
            image.number(&format!("{prefix}.capacity"), capacity);
            image.number(&format!("{prefix}.space.0.capacity"), 7);
            image.number(&format!("{prefix}.space.0.used"), used);
        }
        image
    }

    fn number(&mut self, name: &str, value: i64) {
        self.entry(name, b'J', 0, &value.to_le_bytes());
    }

    fn text(&mut self, name: &str, value: &str) {
        let mut data = value.as_bytes().to_vec();
        data.push(0);
        self.entry(name, b'B', data.len() as i32, &data);
    }

    fn entry(&mut self, name: &str, kind: u8, vector_length: i32, data: &[u8]) {
        let data_at = (20 + name.len() + 1).next_multiple_of(8);
        let length = (data_at + data.len()).next_multiple_of(8);
        let mut entry = vec![0; length];
        entry[..4].copy_from_slice(&(length as i32).to_le_bytes());
        entry[4..8].copy_from_slice(&20_i32.to_le_bytes());
        entry[8..12].copy_from_slice(&vector_length.to_le_bytes());
        entry[12] = kind;
        entry[16..20].copy_from_slice(&(data_at as i32).to_le_bytes());
        entry[20..20 + name.len()].copy_from_slice(name.as_bytes());
        entry[data_at..data_at + data.len()].copy_from_slice(data);
        self.bytes.extend(entry);
        self.count += 1;
        self.bytes[28..32].copy_from_slice(&self.count.to_le_bytes());
    }
}

#[test]
fn version_collector_and_heap_are_read() {
    let bytes = Image::of("G1 young collection pauses").bytes;
    let data = parse(&bytes).unwrap();
    assert_eq!((data.java_version, data.collector), (17, Collector::G1));
    assert!(data.accepts_attach);
    let heap = HeldHeap { used_bytes: 5100, committed_bytes: 61_440 };
    assert_eq!(data.heap(&bytes), Ok(heap));
    assert_eq!(data.heap(&bytes[..data.needed_bytes()]), Ok(heap));
}

#[test]
fn each_collector_is_recognised_by_its_own_name() {
    for (name, collector) in [
        ("Parallel full collection pauses", Collector::Parallel),
        ("G1 incremental collections", Collector::G1),
        ("Z concurrent cycle pauses", Collector::Z),
        ("ZGC minor collection pauses", Collector::Z),
        ("Shenandoah partial", Collector::Shenandoah),
        ("CMS stop-the-world full collection pauses", Collector::Other),
    ] {
        let data = parse(&Image::of(name).bytes).unwrap();
        assert_eq!(data.collector, collector, "{name}");
    }
}

#[test]
fn java_8_and_a_jvm_without_attach_are_recognised() {
    let mut image = Image::of("G1 x");
    image.text("java.property.java.vm.specification.version", "1.8");
    image.text("sun.rt.jvmCapabilities", "0100");
    let data = parse(&image.bytes).unwrap();
    assert_eq!((data.java_version, data.accepts_attach), (8, false));
}

#[test]
fn added_counters_are_noticed() {
    let mut image = Image::of("G1 x");
    let data = parse(&image.bytes).unwrap();
    image.number("sun.gc.generation.2.capacity", 1 << 20);
    assert_eq!(data.heap(&image.bytes), Err(PerfDataError::Changed));
    let grown = parse(&image.bytes).unwrap().heap(&image.bytes).unwrap();
    assert_eq!(grown.committed_bytes, (1 << 20) + 61_440);
}

#[test]
fn impossible_values_are_refused() {
    for value in [-1, i64::MAX] {
        let mut image = Image::of("G1 x");
        image.number("sun.gc.generation.0.space.1.used", value);
        image.number("sun.gc.generation.0.space.2.used", value);
        image.number("sun.gc.generation.0.space.3.used", value);
        let data = parse(&image.bytes).unwrap();
        assert_eq!(data.heap(&image.bytes), Err(PerfDataError::Value));
    }
}

#[test]
fn malformed_files_are_refused_with_the_reason() {
    let good = Image::of("G1 x").bytes;
    let with = |at: usize, value: u8| {
        let mut bytes = good.clone();
        bytes[at] = value;
        parse(&bytes).unwrap_err()
    };
    assert_eq!(parse(&[]), Err(PerfDataError::Short { found: 0 }));
    assert_eq!(with(0, 0), PerfDataError::Magic);
    assert_eq!(with(4, 7), PerfDataError::ByteOrder { order: 7 });
    assert_eq!(with(5, 1), PerfDataError::Version { major: 1 });
    assert_eq!(with(7, 0), PerfDataError::NotReady);
    // An entry of length 0 would stop the walk from advancing.
    assert_eq!(with(32, 0), PerfDataError::Entry { at: 32 });
    assert_eq!(with(27, 0xff), PerfDataError::Entry { at: 24 });
    let name = "java.property.java.vm.specification.version";
    let missing = parse(&Image::empty().bytes);
    assert_eq!(missing, Err(PerfDataError::Missing { name }));
    assert!(parse(&good[..good.len() - 1]).is_err());
}

#[test]
fn the_other_byte_order_is_read_too() {
    let mut bytes = Image::empty().bytes;
    bytes[4] = 0;
    bytes[24..28].copy_from_slice(&32_i32.to_be_bytes());
    bytes[28..32].copy_from_slice(&1_i32.to_be_bytes());
    let mut entry = [0; 40];
    for (at, value) in [(0, 40_i32), (4, 20), (16, 24)] {
        entry[at..at + 4].copy_from_slice(&value.to_be_bytes());
    }
    entry[12] = b'J';
    entry[20] = b'n';
    entry[24..32].copy_from_slice(&77_i64.to_be_bytes());
    bytes.extend(entry);
    let header = Header::read(&bytes).unwrap();
    let found: Vec<_> = header.entries(&bytes).map(Result::unwrap).collect();
    assert_eq!(found[0].name, b"n");
    let at = found[0].number_at.unwrap();
    assert_eq!(header.number(&bytes, at), Some(77));
}

proptest! {
    /// Any bytes, and any damage to a good file, give a value or an error.
    #[test]
    fn no_bytes_make_it_panic(
        noise in prop::collection::vec(any::<u8>(), 0..400),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in any::<prop::sample::Index>(),
    ) {
        let good = Image::of("Z x").bytes;
        let data = parse(&good).unwrap();
        let mut damaged = good.clone();
        for (at, value) in damage {
            *at.get_mut(&mut damaged) = value;
        }
        for bytes in [&noise, &damaged, &good[..cut.index(good.len())].to_vec()] {
            if let Ok(parsed) = parse(bytes) {
                let _ = parsed.heap(bytes);
            }
            let _ = data.heap(bytes);
        }
    }
}
