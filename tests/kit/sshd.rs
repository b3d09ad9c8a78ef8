//! A real sshd on the loopback interface, with keys of its own, that lets one key run git-upload-pack and nothing else.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::wait_for;

/// Where Debian and others put it; it insists on being started by its full path.
const PROGRAM: &str = "/usr/sbin/sshd";

/// A running server, ended when it is dropped.
pub(crate) struct Sshd {
    child: Child,
    port: u16,
    directory: PathBuf,
}

impl Sshd {
    /// Starts one that keeps its files in a directory; nothing if there is no sshd or no git-shell.
    pub(crate) fn start(directory: &Path) -> Option<Sshd> {
        let installed = Path::new(PROGRAM).exists()
            && ["ssh-keygen", "git-shell", "ssh"].iter().all(|name| {
                let mut known = Command::new("sh");
                known.args(["-c", &format!("command -v {name}")]).stdout(Stdio::null());
                known.status().is_ok_and(|status| status.success())
            });
        if !installed {
            return None;
        }
        // sshd run by root gives up its rights in a directory that its service would have made.
        let _ = std::fs::create_dir_all("/run/sshd");
        std::fs::create_dir_all(directory).expect("a directory can be made");
        for key in ["host", "user", "stranger"] {
            let made = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-C", "test", "-f"])
                .arg(directory.join(key))
                .status();
            assert!(made.is_ok_and(|status| status.success()), "ssh-keygen makes a key");
        }
        let read = |name: &str| std::fs::read_to_string(directory.join(name)).expect("ssh-keygen wrote it");
        let shell = r#"restrict,command="git-shell -c \"$SSH_ORIGINAL_COMMAND\"""#;
        std::fs::write(directory.join("authorized"), format!("{shell} {}", read("user.pub")))
            .expect("it is ours");
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .and_then(|listener| listener.local_addr())
            .expect("there is a free port")
            .port();
        let path = directory.display();
        let config = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {path}/host\nAuthorizedKeysFile {path}/authorized\nPidFile none\nUsePAM no\nStrictModes no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin forced-commands-only\nAcceptEnv GIT_PROTOCOL\nLogLevel ERROR\n"
        );
        std::fs::write(directory.join("config"), config).expect("it is ours");
        let host = read("host.pub");
        let key = host.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
        std::fs::write(directory.join("known_hosts"), format!("[127.0.0.1]:{port} {key}\n"))
            .expect("it is ours");
        let stranger = read("stranger.pub");
        let key = stranger.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
        std::fs::write(directory.join("other_hosts"), format!("[127.0.0.1]:{port} {key}\n"))
            .expect("it is ours");
        let log = std::fs::File::create(directory.join("log")).expect("it is ours");
        let child = Command::new(PROGRAM)
            .args(["-D", "-e", "-f"])
            .arg(directory.join("config"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("sshd starts");
        let sshd = Sshd { child, port, directory: directory.to_owned() };
        wait_for("sshd to listen", || TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok());
        Some(sshd)
    }

    /// The URL of a repository on this machine.
    pub(crate) fn url(&self, repository: &Path) -> String {
        let user = Command::new("id").arg("-un").output().expect("there is `id`").stdout;
        let user = String::from_utf8(user).expect("names are ASCII");
        format!("ssh://{}@127.0.0.1:{}{}", user.trim(), self.port, repository.display())
    }

    /// A file: `user` (the key that may), `stranger` (one that may not), `known_hosts`, `other_hosts` (which knows
    /// another server at that address), `log`.
    pub(crate) fn file(&self, name: &str) -> String {
        self.directory.join(name).display().to_string()
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
