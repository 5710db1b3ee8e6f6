use super::*;
use crate::doctor::{is_well, table};

fn host(mountinfo: &str, controllers: &str) -> Host {
    Host {
        is_root: true,
        hierarchies: Hierarchies::discover(mountinfo, |_| controllers.to_owned()),
        moves_refused: BTreeMap::new(),
        local_dirs: vec![("/data".into(), Ok(Device { major: 8, minor: 0 }))],
        disk_bytes_per_s: Some(150_000_000),
        network_bytes_per_s: Some(1_250_000_000),
        network: Some((Backend::Bpf, NetworkGroups::Version2)),
        network_lacks: None,
        network_devices: vec![("eth0".into(), Ok(()))],
        jvm: config::JvmConfig::default(),
        has_pressure: true,
        waits_lack: None,
    }
}

const V1: &str = include_str!("../../../tests/hosts/hybrid-systemd/mountinfo");
const V2: &str = include_str!("../../../tests/hosts/v2-systemd/mountinfo");

#[test]
fn a_host_that_has_everything_gets_no_advice() {
    for (host, cpu, disk) in [
        (
            host(V1, ""),
            "cpu.shares, cpu.cfs_quota_us (version 1)",
            "blkio.throttle.{read,write}_bps_device (version 1) on 8:0 (150 MB/s)",
        ),
        (
            host(V2, "cpu io memory"),
            "cpu.weight, cpu.max (version 2)",
            "io.max (version 2) on 8:0 (150 MB/s)",
        ),
    ] {
        let findings = host.findings();
        assert!(is_well(&findings), "{findings:?}");
        assert_eq!(findings[0].limited_by.as_deref(), Some(cpu));
        assert_eq!(findings[2].limited_by.as_deref(), Some(disk));
        let sent = findings[4].limited_by.as_deref();
        assert_eq!(sent, Some("HTB classes on eth0 (1250 MB/s)"));
    }
}

#[test]
fn a_missing_mechanism_gives_advice() {
    let mut poor = host(V2, "cpu\n");
    poor.has_pressure = false;
    poor.jvm.follow = false;
    poor.network_bytes_per_s = None;
    poor.local_dirs = vec![("/x".into(), Err("no block device".into()))];
    poor.network = None;
    poor.network_lacks = Some("this kernel takes no programs".into());
    poor.network_devices = vec![("eth0".into(), Err("it has a root".into()))];
    let findings = poor.findings();
    let text = table(&findings);
    assert!(!is_well(&findings));
    assert!(findings[1..5].iter().all(|one| one.limited_by.is_none()));
    assert!(findings[3].measured_by.is_none());
    for advice in [
        "-> no cgroup hierarchy serves memory",
        "-> disk.local_dirs: /x: no block device",
        "-> this kernel takes no programs",
        "-> network.devices: eth0: it has a root",
        "-> the speed of the links is unknown",
        "-> set jvm.follow = true",
        "-> boot with psi=1",
    ] {
        assert!(text.contains(advice), "{text}");
    }
}

#[test]
fn a_substitute_for_bpf_is_named_with_its_gaps() {
    let with = |backend, groups| {
        let mut host = host(V1, "");
        host.network = Some((backend, groups));
        host.network_lacks = Some("BPF: this kernel takes no programs".into());
        host.hierarchies.serve_network(Some(groups));
        let findings = host.findings();
        assert!(findings[3].advice[0].starts_with("BPF: "));
        let by = |finding: &Finding| (finding.measured_by.clone(), finding.limited_by.clone());
        [by(&findings[3]), by(&findings[4])]
    };
    let said = |text: &str| Some(text.to_owned());
    let nft = said("nft rules on net_cls groups");
    assert_eq!(
        with(Backend::Nft, NetworkGroups::NetCls),
        [
            (nft.clone(), said("a token bucket in the same programs or rules")),
            (nft, said("HTB classes on eth0 (1250 MB/s)"))
        ]
    );
    assert_eq!(
        with(Backend::NetPrio, NetworkGroups::NetPrio),
        [(None, None), (None, said("HTB classes by net_prio on eth0 (1250 MB/s)"))]
    );
}

#[test]
fn a_reason_against_moves_is_given_once() {
    let mut host = host(V2, "cpu io memory");
    let why = "systemd owns it";
    host.moves_refused = Controller::ALL.map(|one| (one, why.to_owned())).into();
    let text = table(&host.findings());
    assert_eq!(text.matches(why).count(), 1, "{text}");
    host.moves_refused.retain(|one, _| *one == Controller::Disk);
    assert!(host.findings()[2].advice[0].contains(why));
}

#[test]
fn an_unknown_disk_speed_gives_advice() {
    let mut host = host(V1, "");
    host.disk_bytes_per_s = None;
    let advice = &host.findings()[2].advice;
    assert!(advice[0].contains("set capacity.disk_bytes_per_s"), "{advice:?}");
}

#[test]
fn without_root_or_without_a_writable_mount_nothing_is_limited() {
    let mut rootless = host(V1, "");
    rootless.is_root = false;
    let findings = rootless.findings();
    assert!(findings[..3].iter().all(|one| one.limited_by.is_none()));
    assert!(findings.iter().take(3).all(|one| one.measured_by.is_some()));
    let read_only = include_str!("../../../tests/hosts/v1-together-in-a-container/mountinfo");
    let findings = host(read_only, "").findings();
    assert!(findings[0].advice[0].ends_with("mounted read-only: mount it writable"));
}
