//! Who a process is: its id is used again, its start time is not.
//!
//! Not here: which processes belong to a session (ledger).

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde::{Deserialize, Serialize};

/// A process that was seen running.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProcessIdentity {
    /// Its id.
    pub pid: i32,
    /// When it started, as the system reports it; only ever compared.
    pub start_time: String,
}

impl ProcessIdentity {
    /// The process with this id, if there is one now.
    pub fn of(pid: i32) -> Option<Self> {
        Some(Self {
            pid,
            start_time: start_time(pid)?,
        })
    }

    /// This process.
    pub fn own() -> Option<Self> {
        Self::of(rustix::process::getpid().as_raw_nonzero().get())
    }

    /// Whether exactly this process still runs.
    pub fn is_running(&self) -> bool {
        start_time(self.pid).as_deref() == Some(&self.start_time)
    }

    /// Signals the process, if it is still the same one.
    pub(crate) fn signal(&self, signal: Signal) {
        if let Some(pid) = Pid::from_raw(self.pid).filter(|_| self.is_running()) {
            // Fails only when it has just ended.
            let _ = kill_process(pid, signal);
        }
    }

    /// Kills everything in the group that the process leads or led. A group's id is not given
    /// out again while anyone is in the group.
    pub(crate) fn kill_group(&self) {
        if let Some(pid) = Pid::from_raw(self.pid) {
            let _ = kill_process_group(pid, Signal::KILL);
        }
    }
}

/// The boot and the tick in it; nothing for a process that is gone or waits to be collected.
#[cfg(target_os = "linux")]
fn start_time(pid: i32) -> Option<String> {
    let stat = fs_err::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in parentheses and may hold anything, parentheses too.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    let ticks = fields.nth(18)?;
    let boot = fs_err::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    (!matches!(state, "Z" | "X")).then(|| format!("{}-{ticks}", boot.trim()))
}

#[cfg(not(target_os = "linux"))]
fn start_time(pid: i32) -> Option<String> {
    let output = windlass_process::command("ps")
        .args(["-o", "lstart=", "-p", &pid.to_string()])
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// Processes whose environment holds `NAME=value`, other than this one and those it was started
/// by. Finds what was started and could not be written down before the manager was killed.
#[cfg(target_os = "linux")]
pub(crate) fn marked(marker: &str) -> Vec<ProcessIdentity> {
    let mut spared = vec![1];
    let mut next = Some(rustix::process::getpid().as_raw_nonzero().get());
    while let Some(pid) = next.filter(|pid| *pid > 1) {
        spared.push(pid);
        next = parent(pid);
    }
    let Ok(entries) = fs_err::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| !spared.contains(pid))
        .filter(|pid| {
            fs_err::read(format!("/proc/{pid}/environ")).is_ok_and(|environment| {
                environment
                    .split(|byte| *byte == 0)
                    .any(|entry| entry == marker.as_bytes())
            })
        })
        .filter_map(ProcessIdentity::of)
        .collect()
}

#[cfg(target_os = "linux")]
fn parent(pid: i32) -> Option<i32> {
    let stat = fs_err::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?
        .1
        .split_whitespace()
        .nth(1)?
        .parse()
        .ok()
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn marked(_: &str) -> Vec<ProcessIdentity> {
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_identified_by_id_and_start_time() {
        let own = ProcessIdentity::own().unwrap();
        assert!(own.is_running());
        let reused = ProcessIdentity {
            start_time: "another boot".to_owned(),
            ..own
        };
        assert!(!reused.is_running());
    }

    #[test]
    fn one_that_ended_is_not_running_even_before_it_is_collected() {
        let mut child = std::process::Command::new("sleep")
            .arg("600")
            .spawn()
            .unwrap();
        let identity = ProcessIdentity::of(child.id().cast_signed()).unwrap();
        assert!(identity.is_running());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!identity.is_running());
    }
}
