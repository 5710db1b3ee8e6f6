//! Jobs with a mount namespace of their own. They need root.

use std::{
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use nix::unistd::geteuid;

use super::*;

const JOB: u32 = 65534;

/// A process of another user, whose `/tmp` a script has arranged.
struct Job {
    child: Child,
    _folder: tempfile::TempDir,
}

impl Job {
    /// Runs the script as root in a mount namespace with an empty `/tmp` of mode 1777. `$folder` is a directory of root's.
    /// None without root.
    fn new(script: &str) -> Option<Self> {
        if !geteuid().is_root() {
            return None;
        }
        let folder = tempfile::tempdir_in("/var/tmp").unwrap();
        let path = folder.path().display();
        let ready = folder.path().join("ready");
        let script = format!(
            "set -e; folder={path}; mount -t tmpfs -o mode=1777 tmpfs /tmp; {script}
             touch {path}/ready; exec setpriv --reuid={JOB} --regid={JOB} --clear-groups sleep 600"
        );
        let mut unshare = Command::new("unshare");
        unshare.args(["--mount", "sh", "-c", &script]).stdin(Stdio::null());
        let job = Self { child: unshare.spawn().unwrap(), _folder: folder };
        let deadline = Instant::now() + Duration::from_secs(20);
        while !ready.exists() || job.process().status().unwrap().uid != JOB {
            assert!(Instant::now() < deadline, "the job does not start");
            thread::sleep(Duration::from_millis(5));
        }
        Some(job)
    }

    fn process(&self) -> ProcessHandle {
        ProcessHandle::open(Path::new("/proc"), self.child.id()).unwrap()
    }

    fn tmp(&self) -> io::Result<JobDirectory> {
        let process = self.process();
        JobDirectory::tmp(&process, process.status()?)
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn message<T>(result: io::Result<T>) -> String {
    result.map(|_| "no error").unwrap_err().to_string()
}

#[test]
fn a_job_reaches_its_own_files_in_a_tmp_of_everybody_or_of_its_own() {
    let own = format!("chown {JOB} $folder; chmod 711 $folder; mount --bind $folder /tmp;");
    for arrangement in ["", &own] {
        let script = format!("{arrangement} echo counters > /tmp/file; chown {JOB} /tmp/file;");
        let Some(job) = Job::new(&script) else { return };
        let (file, stat) = job.tmp().unwrap().open_regular("file").unwrap();
        assert_eq!((stat.st_uid, stat.st_size), (JOB, 9));
        assert_eq!(io::read_to_string(fs::File::from(file)).unwrap(), "counters\n");
    }
}

#[test]
fn a_directory_of_others_in_the_place_of_tmp_is_refused() {
    for arrangement in [
        "mount --bind /etc /tmp;",
        "mount --bind $folder /tmp;",
        "chmod 777 $folder; mount --bind $folder /tmp;",
    ] {
        let Some(job) = Job::new(arrangement) else { return };
        let message = message(job.tmp());
        assert!(message.contains("is neither the job's alone nor everybody's"), "{message}");
    }
}

#[test]
fn what_is_mounted_below_tmp_is_refused() {
    let script = format!(
        "echo x > $folder/file; chown {JOB} $folder $folder/file; mkdir /tmp/directory; touch /tmp/file;
         chown {JOB} /tmp/directory /tmp/file;
         mount --bind $folder /tmp/directory; mount --bind $folder/file /tmp/file;"
    );
    let Some(job) = Job::new(&script) else { return };
    let tmp = job.tmp().unwrap();
    assert_eq!(message(tmp.below("directory")), "/tmp/directory is mounted there");
    assert_eq!(message(tmp.open_regular("file")), "/tmp/file is mounted there");
}

#[test]
fn devices_links_and_fifos_are_never_opened() {
    let script = format!(
        "mknod /tmp/device c 1 3; mkfifo /tmp/fifo; ln -s /etc/passwd /tmp/link; ln -s /etc /tmp/directory;
         chown -h {JOB} /tmp/*;"
    );
    let Some(job) = Job::new(&script) else { return };
    let tmp = job.tmp().unwrap();
    for name in ["device", "fifo", "link"] {
        let expected = format!("/tmp/{name} is a link, or is not a regular file");
        assert_eq!(message(tmp.open_regular(name)), expected);
    }
    let expected = "/tmp/directory is a link, or is not a directory";
    assert_eq!(message(tmp.below("directory")), expected);
}
