//! What the operating system says of a process: its children, its processor time, its memory. Linux only.
//!
//! Shared by the end-to-end tests and the benches; only the standard library.

use std::time::Duration;

/// Clock ticks a second in `/proc`: `USER_HZ`, which Linux fixes at 100 for every program.
const TICKS: u64 = 100;

/// The line of `/proc/PID/stat` behind the name, which may itself contain blanks and brackets.
fn stat(pid: u32) -> Option<Vec<String>> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = text.rsplit_once(')')?;
    Some(rest.split_whitespace().map(str::to_owned).collect())
}

fn ticks(fields: &[String], numbers: [usize; 2]) -> Duration {
    // Fields are numbered from 1 in proc(5); the third is the first here.
    let ticks = numbers.iter().filter_map(|number| fields.get(number - 3)?.parse::<u64>().ok()).sum::<u64>();
    Duration::from_millis(ticks * 1_000 / TICKS)
}

/// The living children of a process whose command line contains `argument`. A zombie is not alive.
pub(crate) fn children(parent: u32, argument: &str) -> Vec<u32> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_child = |pid: &u32| {
        let Some(fields) = stat(*pid) else { return false };
        let command = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        fields[0] != "Z"
            && fields[1] == parent.to_string()
            && command.split(|byte| *byte == 0).any(|word| word == argument.as_bytes())
    };
    let mut found = pids.filter(is_child).collect::<Vec<_>>();
    found.sort_unstable();
    found
}

/// Processor time a process has used itself.
pub(crate) fn own_time(pid: u32) -> Duration {
    stat(pid).map_or(Duration::ZERO, |fields| ticks(&fields, [14, 15]))
}

/// Processor time of the children a process has waited for, which is where a killed child's time goes.
pub(crate) fn ended_children_time(pid: u32) -> Duration {
    stat(pid).map_or(Duration::ZERO, |fields| ticks(&fields, [16, 17]))
}

/// Whether a process is there and is no zombie.
pub(crate) fn is_alive(pid: u32) -> bool {
    stat(pid).is_some_and(|fields| fields[0] != "Z")
}

/// Memory a process holds, in bytes; `field` is `VmRSS` or `VmHWM` (the most it ever held).
pub(crate) fn memory(pid: u32, field: &str) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|kibibytes| kibibytes << 10)
}

/// Sends a signal by its name, such as `TERM`. The shell's own `kill` is everywhere; a program of that name is not.
pub(crate) fn signal(pid: u32, name: &str) -> bool {
    let status = std::process::Command::new("sh")
        .args(["-c", "kill -s \"$1\" \"$2\"", "sh", name, &pid.to_string()])
        .status();
    status.is_ok_and(|status| status.success())
}
