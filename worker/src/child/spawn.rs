//! Starting processes from one thread that lives as long as this process.
//!
//! The kernel kills a child "with its parent" when the *thread* that started it ends (prctl(2),
//! PR_SET_PDEATHSIG). An async runtime may end a thread at any time, so children are started by a thread of
//! their own that never ends.

use std::io;
use std::sync::OnceLock;
use std::sync::mpsc;

use tokio::process::{Child, Command};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

struct Order {
    command: Command,
    runtime: Handle,
    answer: oneshot::Sender<io::Result<Child>>,
}

/// Starts a process that belongs to the current runtime.
pub(super) async fn spawn(command: Command) -> io::Result<Child> {
    static SPAWNER: OnceLock<Result<mpsc::Sender<Order>, String>> = OnceLock::new();
    let spawner = SPAWNER.get_or_init(|| {
        let (sender, receiver) = mpsc::channel();
        let thread = std::thread::Builder::new().name("formwork-spawner".to_owned());
        thread.spawn(move || run(&receiver)).map(|_| sender).map_err(|error| error.to_string())
    });
    let spawner = spawner.as_ref().map_err(|error| io::Error::other(error.clone()))?;
    let (answer, answered) = oneshot::channel();
    let gone = || io::Error::other("the thread that starts processes has ended");
    spawner.send(Order { command, runtime: Handle::current(), answer }).map_err(|_| gone())?;
    answered.await.map_err(|_| gone())?
}

fn run(orders: &mpsc::Receiver<Order>) {
    while let Ok(Order { mut command, runtime, answer }) = orders.recv() {
        let _inside = runtime.enter();
        keep_descriptors_here();
        // A runtime without its I/O driver panics here; this thread must outlive that.
        let started = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| command.spawn()));
        let started = started.unwrap_or_else(|_| Err(io::Error::other("the runtime cannot start processes")));
        // Who asked may have given up; the child is killed when it is dropped.
        drop(answer.send(started));
    }
}

/// Marks every descriptor but the standard three to be closed in programs this process starts.
///
/// Rust's library opens them so; what this process inherited, or a C library opened, may not be. The child's own
/// three are put in place by the library after this, in the child.
fn keep_descriptors_here() {
    // SAFETY: the call reads no memory of ours and closes nothing: with CLOSE_RANGE_CLOEXEC it only sets a flag on
    // descriptors, which no owner of a descriptor relies on being unset.
    let result = unsafe {
        libc::syscall(
            libc::SYS_close_range,
            3,
            libc::c_uint::MAX,
            libc::c_long::from(libc::CLOSE_RANGE_CLOEXEC),
        )
    };
    if result != 0 {
        // Before Linux 5.11. A worker cannot use what leaks: its system calls are bound to its own three.
        tracing::debug!(error = %io::Error::last_os_error(), "descriptors could not be marked close-on-exec");
    }
}
