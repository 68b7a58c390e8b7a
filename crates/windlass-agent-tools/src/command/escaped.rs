//! Processes of a command that left its group: `setsid`, daemons that fork twice.
//!
//! They are known by a mark in the environment they started with. One that clears its environment, or
//! belongs to another user, is not found: that is for the sandbox, whose process namespace ends with
//! its first process.

/// The variable that marks every process of a command.
pub(super) const MARK: &str = "WINDLASS_COMMAND";

/// Ends every process with this mark.
#[cfg(target_os = "linux")]
pub(super) fn end(mark: &str) {
    use rustix::process::{PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
    /// One that forks while it is looked for is found in the next round.
    const ROUNDS: usize = 8;

    let wanted = format!("{MARK}={mark}");
    for _ in 0..ROUNDS {
        let mut has_ended = false;
        for pid in marked(&wanted) {
            // The descriptor is of one process for good; what it was opened for is checked again.
            let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else {
                continue;
            };
            if is_marked(pid, &wanted) && pidfd_send_signal(&process, Signal::KILL).is_ok() {
                has_ended = true;
            }
        }
        if !has_ended {
            return;
        }
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn end(_: &str) {}

#[cfg(target_os = "linux")]
fn marked(wanted: &str) -> Vec<rustix::process::Pid> {
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    let own = std::process::id();
    processes
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok())
        .filter(|pid| u32::try_from(*pid).is_ok_and(|pid| pid != own))
        .filter_map(rustix::process::Pid::from_raw)
        .filter(|pid| is_marked(*pid, wanted))
        .collect()
}

/// One that has ended has no environment any more.
#[cfg(target_os = "linux")]
fn is_marked(pid: rustix::process::Pid, wanted: &str) -> bool {
    let Ok(environment) = fs_read(&format!("/proc/{}/environ", pid.as_raw_nonzero())) else {
        return false;
    };
    environment
        .split(|byte| *byte == 0)
        .any(|variable| variable == wanted.as_bytes())
}

#[cfg(target_os = "linux")]
fn fs_read(path: &str) -> std::io::Result<Vec<u8>> {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    std::fs::File::open(path)?
        .take(4 << 20)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}
