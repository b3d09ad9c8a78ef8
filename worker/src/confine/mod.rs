//! What a process does to itself before it touches anything hostile: limits, files, system calls, its parent.
//!
//! Every measure is taken as far as the kernel has it, and [`Confinement`] tells what came of each: a service on
//! an old kernel runs with less and says so. All of it is one way; nothing here can be undone by the process.
//! Call it while the process has one thread: landlock binds the calling thread and those it starts.

mod calls;
mod files;
mod limits;

use std::fmt;
use std::os::fd::RawFd;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use calls::Calls;
pub use files::Files;
pub use limits::Limits;
pub(crate) use limits::{Meter, allow_data, allow_processor_time};

/// What a client of the network reads: how names are looked up, the libraries that do it, certificates. Not all of
/// `/etc`, where a system keeps its secrets.
pub const NETWORK_READABLE: &[&str] = &[
    "/dev/urandom",
    "/etc/ca-certificates",
    "/etc/crypto-policies",
    "/etc/gai.conf",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/etc/nsswitch.conf",
    "/etc/pki",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/ssl",
    "/lib",
    "/lib64",
    "/nix/store",
    "/run/systemd/resolve",
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/share/ca-certificates",
    "/usr/share/ca-certificates",
    "/usr/share/pki",
    "/var/lib/ca-certificates",
];

/// What programs of the system read: themselves, their libraries, who the user is.
pub const PROGRAMS_READABLE: &[&str] = &[
    "/bin",
    "/dev/null",
    "/dev/urandom",
    "/etc/alternatives",
    "/etc/group",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/nsswitch.conf",
    "/etc/passwd",
    "/lib",
    "/lib64",
    "/nix/store",
    "/run/current-system",
    "/usr",
];

/// How far a child may reach beyond its own files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Reach {
    /// No socket, no other program.
    #[default]
    Nothing,
    /// Sockets.
    Network,
    /// Other programs, without network: they inherit what this one is confined to.
    Programs,
    /// Both.
    NetworkAndPrograms,
}

/// What a process is to give up.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Confine {
    /// Limits the kernel counts.
    pub limits: Limits,
    /// The process that must not be outlived: this process is killed when the thread that started it ends.
    pub parent: Option<u32>,
    /// Which files can be reached by name.
    pub files: Files,
    /// Which system calls are left.
    pub calls: Calls,
}

/// How far one measure took hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Guard {
    /// It was not asked for.
    #[default]
    NotAsked,
    /// It holds.
    Full,
    /// It holds in part, for this reason.
    Partial(String),
    /// It does not hold, for this reason.
    Missing(String),
}

/// What came of each measure.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// Memory, processor time, descriptors, file size, core files.
    pub limits: Guard,
    /// Dying with the parent.
    pub parent: Guard,
    /// Never gaining privileges by starting a program.
    pub privileges: Guard,
    /// Files, and with them TCP and sockets by name: landlock.
    pub files: Guard,
    /// System calls: seccomp.
    pub calls: Guard,
}

impl Guard {
    /// Whether it does all it was asked to.
    pub fn holds(&self) -> bool {
        matches!(self, Guard::Full | Guard::NotAsked)
    }

    fn from_result<E: fmt::Display>(result: Result<(), E>) -> Guard {
        match result {
            Ok(()) => Guard::Full,
            Err(error) => Guard::Missing(error.to_string()),
        }
    }
}

impl fmt::Display for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Guard::NotAsked => f.write_str("not asked for"),
            Guard::Full => f.write_str("in force"),
            Guard::Partial(reason) => write!(f, "partly in force: {reason}"),
            Guard::Missing(reason) => write!(f, "missing: {reason}"),
        }
    }
}

impl Confinement {
    /// Nothing is known yet, for this reason.
    pub fn unknown(reason: &str) -> Confinement {
        let guard = || Guard::Missing(reason.to_owned());
        Confinement { limits: guard(), parent: guard(), privileges: guard(), files: guard(), calls: guard() }
    }

    /// Each measure with its name, in the order they are taken.
    pub fn guards(&self) -> [(&'static str, &Guard); 5] {
        [
            ("limits", &self.limits),
            ("parent", &self.parent),
            ("privileges", &self.privileges),
            ("files", &self.files),
            ("calls", &self.calls),
        ]
    }

    /// Whether everything asked for holds.
    pub fn is_complete(&self) -> bool {
        self.guards().iter().all(|(_, guard)| guard.holds())
    }

    /// What does not hold, one sentence each, for a start-up warning.
    pub fn gaps(&self) -> Vec<String> {
        let open = self.guards().into_iter().filter(|(_, guard)| !guard.holds());
        open.map(|(name, guard)| format!("{name}: {guard}")).collect()
    }
}

/// Takes every measure asked for, and tells what came of each.
///
/// `descriptors` are those beside the standard three that this process goes on reading from; under
/// [`Calls::Compute`] all others are dead to it. `meanwhile` is what must be done once files are out of reach, but before
/// system calls are: a thread it starts is confined like this one.
pub fn confine_self<T>(
    confine: &Confine,
    descriptors: &[RawFd],
    meanwhile: impl FnOnce() -> T,
) -> (Confinement, T) {
    // The order matters: landlock needs descriptors and calls that later measures take away, and binds this thread and
    // those it starts from then on.
    let parent = confine.parent.map_or(Guard::NotAsked, die_with);
    let privileges = Guard::from_result(rustix::thread::set_no_new_privs(true));
    let files = files::restrict(&confine.files, confine.calls);
    let done = meanwhile();
    let limits = limits::set(&confine.limits);
    let calls = calls::restrict(confine.calls, descriptors);
    (Confinement { limits, parent, privileges, files, calls }, done)
}

/// Asks the kernel to kill this process with its parent; and ends it now if the parent is gone already.
fn die_with(parent: u32) -> Guard {
    let guard = Guard::from_result(rustix::process::set_parent_process_death_signal(Some(
        rustix::process::Signal::KILL,
    )));
    let now = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get().cast_unsigned());
    if now != Some(parent) {
        // Nobody is there to read a message.
        std::process::exit(1);
    }
    guard
}

/// What a worker gives up: everything but computing, talking over its two pipes, and dying. The compiled interpreter it
/// is to map can be read until system calls are taken away, and nothing can be opened afterwards.
pub(crate) fn for_worker(memory: u64, parent: u32, python: Option<&Path>) -> Confine {
    Confine {
        limits: Limits {
            data: Some(memory),
            // Set job by job: a worker lives for many.
            processor_time: None,
            descriptors: Some(16),
            file_size: Some(0),
        },
        parent: Some(parent),
        files: Files::Only {
            readable: python.map(Path::to_owned).into_iter().collect(),
            writable: Vec::new(),
        },
        calls: Calls::Compute,
    }
}

/// What a child that fetches or scans gives up.
pub(crate) fn for_child(
    limits: Limits,
    parent: u32,
    reach: Reach,
    files: (Vec<PathBuf>, Vec<PathBuf>),
) -> Confine {
    let (readable, mut writable) = files;
    if reach != Reach::Nothing {
        // Where programs it starts send what nobody wants.
        writable.push(PathBuf::from("/dev/null"));
    }
    Confine {
        limits,
        parent: Some(parent),
        files: Files::Only { readable, writable },
        calls: match reach {
            Reach::Nothing => Calls::Local,
            Reach::Network => Calls::Network,
            Reach::Programs => Calls::Programs,
            Reach::NetworkAndPrograms => Calls::NetworkAndPrograms,
        },
    }
}
