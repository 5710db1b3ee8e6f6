//! The socket file.

use std::{
    fs::{self, Permissions},
    io,
    os::unix::{
        fs::{FileTypeExt, PermissionsExt},
        net::{UnixListener, UnixStream},
    },
    path::Path,
};

use nix::unistd::{Group, chown};

use crate::config::Socket;

/// Listens with the configured group and mode.
pub fn listen(config: &Socket) -> Result<UnixListener, String> {
    let path = &config.path;
    let failed = |action| move |error: io::Error| cannot(action, path, &error);
    if let Some(directory) = path.parent().filter(|directory| !directory.exists()) {
        fs::create_dir_all(directory).map_err(failed("make the directory of"))?;
        // Every user may reach the socket; the socket's mode says who may open it.
        let reachable = Permissions::from_mode(0o755);
        fs::set_permissions(directory, reachable).map_err(failed("open the directory of"))?;
    }
    remove_stale(path)?;
    // The agent's umask keeps others out until group and mode are set.
    let listener = UnixListener::bind(path).map_err(failed("listen on"))?;
    if let Some(group) = group(config)? {
        let owned = chown(path, None, Some(group.gid));
        owned.map_err(|errno| cannot("set the group of", path, &errno.into()))?;
    }
    let mode = Permissions::from_mode(config.mode_bits());
    fs::set_permissions(path, mode).map_err(failed("set the mode of"))?;
    Ok(listener)
}

pub fn group(config: &Socket) -> Result<Option<Group>, String> {
    let Some(name) = &config.group else {
        return Ok(None);
    };
    match Group::from_name(name) {
        Ok(Some(group)) => Ok(Some(group)),
        _ => Err(format!("socket.group = {name}: this host has no such group")),
    }
}

/// Removes a socket file on which no agent answers.
pub fn remove_stale(path: &Path) -> Result<(), String> {
    let kind = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata.file_type(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(cannot("inspect", path, &error)),
    };
    let name = path.display();
    if !kind.is_socket() {
        return Err(format!("{name} is not a socket: remove it or set another socket.path"));
    }
    match UnixStream::connect(path) {
        Ok(_) => Err(format!("an agent already listens on {name}")),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            fs::remove_file(path).map_err(|error| cannot("remove stale", path, &error))
        }
        Err(error) => Err(cannot("connect to", path, &error)),
    }
}

fn cannot(action: &str, path: &Path, error: &io::Error) -> String {
    format!("cannot {action} {}: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(path: &Path) -> Socket {
        Socket { path: path.into(), ..Socket::default() }
    }

    #[test]
    fn a_socket_that_answers_is_kept_and_a_stale_one_is_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("deep/agent.sock");
        let first = listen(&config(&path)).unwrap();
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o660);
        let error = listen(&config(&path)).unwrap_err().to_string();
        assert_eq!(error, format!("an agent already listens on {}", path.display()));
        drop(first);
        listen(&config(&path)).unwrap();
    }

    #[test]
    fn a_file_that_is_not_a_socket_is_never_removed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("agent.sock");
        fs::write(&path, "precious").unwrap();
        let error = listen(&config(&path)).unwrap_err();
        assert!(error.contains("is not a socket"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
    }

    #[test]
    fn an_unknown_group_is_named() {
        let mut config = config(Path::new("/unused"));
        config.group = Some("no-such-group".into());
        let error = group(&config).unwrap_err().to_string();
        assert!(error.starts_with("socket.group = no-such-group:"), "{error}");
    }
}
