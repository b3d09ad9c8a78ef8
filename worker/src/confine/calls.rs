//! Which system calls a process has left: seccomp.
//!
//! A worker has a list of what it may do, for its work is known to the last call. Children that fetch or scan
//! run libraries and programs of the system; they have a list of what they may not. A refused call fails with
//! EPERM, which libraries cope with; nothing is killed for asking.

use std::collections::BTreeMap;
use std::os::fd::RawFd;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};
use serde::{Deserialize, Serialize};

use super::Guard;

/// The system calls that stay.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Calls {
    /// All.
    #[default]
    Any,
    /// All but sockets, starting programs, and those that change the system or look into other processes.
    Local,
    /// All but starting programs, and those that change the system or look into other processes.
    Network,
    /// All but sockets, and those that change the system or look into other processes.
    Programs,
    /// All but those that change the system or look into other processes.
    NetworkAndPrograms,
    /// Memory, time, randomness, the standard pipes, and an end: no thread, no file, no socket, no program.
    Compute,
}

/// Refused to every confined child: they change the system, or look into other processes.
const SYSTEM: &[i64] = &[
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_finit_module,
    libc::SYS_init_module,
    libc::SYS_io_uring_setup,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_open_by_handle_at,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pivot_root,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_setdomainname,
    libc::SYS_sethostname,
    libc::SYS_setns,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
];

/// Refused to a child that may not start programs, too.
const STARTING: &[i64] = &[libc::SYS_execve, libc::SYS_execveat];

/// Refused to a child without network, too.
const OUTWARD: &[i64] = &[libc::SYS_socket];

/// Refused to a child without either, too. Rust's library starts programs with the help of a pair of sockets.
const PAIRS: &[i64] = &[libc::SYS_socketpair];

/// What computing takes, whatever the arguments: the allocator's, the clock's, the random source's, those of
/// signals and locks, and the ends.
const COMPUTE: &[i64] = &[
    libc::SYS_brk,
    libc::SYS_clock_gettime,
    libc::SYS_close,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_futex,
    libc::SYS_getpid,
    libc::SYS_getrandom,
    libc::SYS_getrusage,
    libc::SYS_gettid,
    libc::SYS_madvise,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_restart_syscall,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_yield,
    libc::SYS_sigaltstack,
];

pub(super) fn restrict(calls: Calls, descriptors: &[RawFd]) -> Guard {
    let filter = match calls {
        Calls::Any => return Guard::NotAsked,
        Calls::Local => refuse(&[SYSTEM, STARTING, OUTWARD, PAIRS]),
        Calls::Network => refuse(&[SYSTEM, STARTING]),
        Calls::Programs => refuse(&[SYSTEM, OUTWARD]),
        Calls::NetworkAndPrograms => refuse(&[SYSTEM]),
        Calls::Compute => compute(descriptors),
    };
    let applied = filter.map_err(|error| error.to_string()).and_then(|program| {
        // All threads there are: one of the interpreter's may be waiting already.
        seccompiler::apply_filter_all_threads(&program)
            .map_err(|error| format!("this kernel takes no seccomp filter: {error}"))
    });
    Guard::from_result(applied)
}

fn refuse(lists: &[&[i64]]) -> Result<BpfProgram, seccompiler::BackendError> {
    let rules = lists.concat().into_iter().map(|call| (call, Vec::new())).collect();
    build(rules, SeccompAction::Allow, SeccompAction::Errno(libc::EPERM.cast_unsigned()))
}

fn compute(descriptors: &[RawFd]) -> Result<BpfProgram, seccompiler::BackendError> {
    let any = COMPUTE.iter().map(|call| (*call, Vec::new()));
    let mut rules = any.collect::<BTreeMap<i64, Vec<SeccompRule>>>();

    // Reading and writing where we know the other end; a descriptor leaked into this process is of no use to it.
    let on = |descriptors: &[RawFd]| {
        let each = descriptors.iter().map(|one| argument(0, SeccompCmpOp::Eq, one.cast_unsigned().into()));
        each.collect::<Result<Vec<_>, _>>()
    };
    let readable = on(&[&[libc::STDIN_FILENO], descriptors].concat())?;
    rules.insert(libc::SYS_pread64, readable.clone());
    rules.insert(libc::SYS_read, readable);
    let writable = on(&[libc::STDOUT_FILENO, libc::STDERR_FILENO])?;
    rules.insert(libc::SYS_writev, writable.clone());
    rules.insert(libc::SYS_write, writable);

    // Memory, but never memory that can be run.
    let not_executable = argument(2, SeccompCmpOp::MaskedEq(libc::PROT_EXEC.cast_unsigned().into()), 0)?;
    rules.insert(libc::SYS_mmap, vec![not_executable.clone()]);
    rules.insert(libc::SYS_mprotect, vec![not_executable]);

    // Its own limits and its own threads: a job's share of memory is set here, and abort() signals itself.
    rules.insert(libc::SYS_prlimit64, vec![argument(0, SeccompCmpOp::Eq, 0)?]);
    rules.insert(libc::SYS_tgkill, vec![argument(0, SeccompCmpOp::Eq, std::process::id().into())?]);

    // Debug builds of the standard library ask whether a descriptor is open before closing it.
    rules.insert(libc::SYS_fcntl, vec![argument(1, SeccompCmpOp::Eq, libc::F_GETFD.cast_unsigned().into())?]);

    build(rules, SeccompAction::Errno(libc::EPERM.cast_unsigned()), SeccompAction::Allow)
}

fn argument(index: u8, operator: SeccompCmpOp, value: u64) -> Result<SeccompRule, seccompiler::BackendError> {
    SeccompRule::new(vec![SeccompCondition::new(index, SeccompCmpArgLen::Dword, operator, value)?])
}

fn build(
    rules: BTreeMap<i64, Vec<SeccompRule>>,
    otherwise: SeccompAction,
    matched: SeccompAction,
) -> Result<BpfProgram, seccompiler::BackendError> {
    let architecture = std::env::consts::ARCH.try_into()?;
    SeccompFilter::new(rules, otherwise, matched, architecture)?.try_into()
}
