//! How a Git server is reached: who we are to it, how we know it, which addresses it may have, what a fetch may cost.
//!
//! Secrets live in the configuration in memory, and in the one job that needs them, which travels to the scan child
//! over its pipe. They are in no argument, no environment, no file of ours, no log and no error: [`Secret`] cannot be
//! printed, and what a transport says is searched for them before it is passed on.

use std::fmt;
use std::io::Read;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::source::Addresses;

/// The longest a server may be silent. Servers that prepare a large pack send a sign of life every few seconds.
const IDLE: Duration = Duration::from_secs(60);

/// Largest password or certificate file that is read.
const LARGEST_FILE: u64 = 1 << 20;

/// A text that is never shown: it has no `Display`, and `Debug` hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes a text into custody.
    pub fn new(text: impl Into<String>) -> Secret {
        Secret(text.into())
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}

/// Who we are to an http or https server. The name is not shown either: it may be a token.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// The user name.
    pub username: String,
    /// The password or token.
    pub password: Secret,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(credentials)")
    }
}

/// Gives credentials that change, such as tokens that expire; asked before each fetch.
pub trait SupplyCredentials: Send + Sync {
    /// The credentials that are good now.
    ///
    /// # Errors
    /// Why there are none, in one sentence without secrets; the fetch is then not tried.
    fn credentials(&self) -> Result<Credentials, String>;
}

/// Where credentials come from.
#[derive(Clone)]
pub enum CredentialSource {
    /// They are known.
    Given(Credentials),
    /// The password is what a file holds, without the line's end; read before each fetch, so that it can be changed.
    File {
        /// The user name.
        username: String,
        /// The file. Others than its owner and group must not be able to read it.
        path: PathBuf,
    },
    /// Somebody is asked.
    Supplied(Arc<dyn SupplyCredentials>),
}

impl PartialEq for CredentialSource {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (CredentialSource::Given(a), CredentialSource::Given(b)) => a == b,
            (
                CredentialSource::File { username, path },
                CredentialSource::File { username: other_name, path: other_path },
            ) => (username, path) == (other_name, other_path),
            (CredentialSource::Supplied(a), CredentialSource::Supplied(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

impl Eq for CredentialSource {}

impl fmt::Debug for CredentialSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CredentialSource::Given(credentials) => fmt::Debug::fmt(credentials, f),
            CredentialSource::File { path, .. } => write!(f, "(credentials in {})", path.display()),
            CredentialSource::Supplied(_) => f.write_str("(supplied credentials)"),
        }
    }
}

/// How the ssh program is used. Nothing else is: no configuration file, no prompt, no other key, no other known host.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SshOptions {
    /// The private key, readable by its owner alone.
    pub key: Option<PathBuf>,
    /// The keys of hosts, as ssh writes them; a host that is not in it is not talked to.
    pub known_hosts: Option<PathBuf>,
    /// Whether keys of the agent that the environment names may be used.
    pub agent: bool,
}

/// How the server of one registry is reached.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Connection {
    /// Who we are, for http and https.
    pub credentials: Option<CredentialSource>,
    /// Certificates in PEM that alone vouch for the server, in place of the system's.
    pub ca_file: Option<PathBuf>,
    /// For ssh.
    pub ssh: SshOptions,
    /// Which addresses it may have.
    pub addresses: Addresses,
}

/// What one fetch may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FetchLimits {
    /// Bytes that are received.
    pub(crate) bytes: u64,
    /// The longest silence.
    pub(crate) idle: Duration,
    /// Time in all.
    pub(crate) total: Duration,
}

impl FetchLimits {
    /// Limits of a fetch that must leave some of `wall` for the scan.
    pub(crate) fn new(bytes: u64, wall: Duration) -> FetchLimits {
        let total = wall - (wall / 4).min(Duration::from_secs(60));
        FetchLimits { bytes, idle: IDLE.min(total), total }
    }
}

/// A connection with everything read that it needs: what the scan child is told, over its pipe and nowhere else.
#[derive(Serialize, Deserialize)]
pub(crate) struct ReadyConnection {
    /// User name and password.
    login: Option<(String, String)>,
    /// Certificates in PEM.
    pub(crate) certificates: Option<String>,
    pub(crate) ssh: SshOptions,
    pub(crate) addresses: Addresses,
    pub(crate) limits: FetchLimits,
}

impl fmt::Debug for ReadyConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(connection)")
    }
}

/// Why a connection cannot be tried.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ConnectionError {
    #[error("{} cannot be read: {error}", path.display())]
    Unreadable { path: PathBuf, error: String },
    #[error("{} is empty; a password is expected in it", .0.display())]
    Empty(PathBuf),
    #[error("{} can be read by anybody on this machine: `chmod 600` it", .0.display())]
    Open(PathBuf),
    #[error("there are no credentials to fetch with: {0}")]
    Supply(String),
}

impl Connection {
    /// Reads what the connection needs. Blocking: files are small and local.
    pub(crate) fn ready(&self, limits: FetchLimits) -> Result<ReadyConnection, ConnectionError> {
        let login = match &self.credentials {
            None => None,
            Some(CredentialSource::Given(credentials)) => Some(credentials.clone()),
            Some(CredentialSource::File { username, path }) => {
                Some(Credentials { username: username.clone(), password: password(path)? })
            }
            Some(CredentialSource::Supplied(supplier)) => {
                Some(supplier.credentials().map_err(ConnectionError::Supply)?)
            }
        };
        let certificates = self.ca_file.as_deref().map(|path| read(path, |_| false)).transpose()?;
        Ok(ReadyConnection {
            login: login.map(|login| (login.username, login.password.expose().to_owned())),
            certificates,
            ssh: self.ssh.clone(),
            addresses: self.addresses,
            limits,
        })
    }
}

impl ReadyConnection {
    /// User name and password, for the transport only.
    pub(crate) fn login(&self) -> Option<(&str, &str)> {
        self.login.as_ref().map(|(name, password)| (name.as_str(), password.as_str()))
    }

    /// A text of somebody else's, such as a transport's error, without what is secret here.
    pub(crate) fn redact(&self, text: &str) -> String {
        let Some((name, password)) = self.login() else { return text.to_owned() };
        let mut text = text.to_owned();
        if !password.is_empty() {
            text = text.replace(password, "…");
        }
        // A name alone is a token. Beside a password it is no secret, and may be a word of any message.
        if password.is_empty() && !name.is_empty() {
            text = text.replace(name, "…");
        }
        text
    }
}

fn password(path: &Path) -> Result<Secret, ConnectionError> {
    let open = |mode: u32| mode & 0o007 != 0;
    let text = read(path, open)?;
    let text = text.strip_suffix('\n').unwrap_or(&text);
    let text = text.strip_suffix('\r').unwrap_or(text);
    if text.is_empty() { Err(ConnectionError::Empty(path.to_owned())) } else { Ok(Secret::new(text)) }
}

/// Reads a small file, unless its mode is one that `refused` says must not be.
fn read(path: &Path, refused: impl Fn(u32) -> bool) -> Result<String, ConnectionError> {
    let unreadable = |error: std::io::Error| ConnectionError::Unreadable {
        path: path.to_owned(),
        error: error.to_string(),
    };
    // A pipe in its place must not make us wait.
    let file = std::fs::OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path)
        .map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(unreadable(std::io::Error::other("it is not a file")));
    }
    if refused(metadata.permissions().mode()) {
        return Err(ConnectionError::Open(path.to_owned()));
    }
    if metadata.len() > LARGEST_FILE {
        return Err(unreadable(std::io::ErrorKind::FileTooLarge.into()));
    }
    let mut text = String::new();
    file.take(LARGEST_FILE).read_to_string(&mut text).map_err(unreadable)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> FetchLimits {
        FetchLimits::new(1 << 20, Duration::from_secs(10))
    }

    #[test]
    fn a_password_file_is_read_each_time_and_must_not_be_open_to_all() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("password");
        let source = CredentialSource::File { username: "me".to_owned(), path: path.clone() };
        let connection = Connection { credentials: Some(source), ..Connection::default() };
        let set = |text: &str, mode: u32| {
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        assert!(matches!(connection.ready(limits()), Err(ConnectionError::Unreadable { .. })));
        for (text, mode) in [("first\n", 0o600), ("second\r\n", 0o440)] {
            set(text, mode);
            let login = connection.ready(limits()).unwrap();
            assert_eq!(login.login(), Some(("me", text.trim())));
        }
        set("third", 0o644);
        assert_eq!(connection.ready(limits()).unwrap_err(), ConnectionError::Open(path.clone()));
        set("\n", 0o600);
        assert_eq!(connection.ready(limits()).unwrap_err(), ConnectionError::Empty(path.clone()));
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        assert!(connection.ready(limits()).unwrap_err().to_string().contains("it is not a file"));
    }

    /// The share of attack row 31 that connections have.
    #[test]
    fn secrets_are_not_printed_and_taken_out_of_what_others_say() {
        let ready = |name: &str, password: &str| {
            let given = Credentials { username: name.to_owned(), password: Secret::new(password) };
            let connection =
                Connection { credentials: Some(CredentialSource::Given(given)), ..Connection::default() };
            assert!(!format!("{connection:?}").contains("hunter2"));
            connection.ready(limits()).unwrap()
        };
        let both = ready("git", "hunter2");
        assert!(!format!("{both:?}").contains("hunter2"));
        assert_eq!(both.redact("git said hunter2 is wrong"), "git said … is wrong");
        assert_eq!(ready("hunter2", "").redact("no hunter2"), "no …");
    }
}
