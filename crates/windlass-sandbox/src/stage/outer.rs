//! The outer stage: starts the inner one in what the backend offers, and stays outside as its
//! supervisor and proxy. When it ends, however it ends, everything inside ends too.

use std::{ffi::OsString, io, os::fd::OwnedFd, os::unix::net::UnixStream};

use rustix::{
    event::{PollFd, PollFlags, poll},
    process::{
        DumpableBehavior, Pid, PidfdFlags, Resource, Rlimit, Signal, kill_process, pidfd_open,
        set_child_subreaper, set_dumpable_behavior, setrlimit,
    },
};
use windlass_ports::sandbox::{AddressGuard, Backend};

use super::{Doing as _, FAILED, StageError, bubblewrap, inner, namespaces};
use crate::{
    proxy,
    spec::{Owner, Reach, Spec},
    stand_ins::StandIns,
    sys,
};

pub fn run(
    spec: &Spec,
    program: &[OsString],
    guard: &'static dyn AddressGuard,
) -> Result<u8, StageError> {
    harden().doing("protecting the supervisor")?;
    let owner = owner(spec.owner).doing("finding the process to end with")?;
    let _stand_ins = StandIns::create(&spec.protected).doing("protecting what does not exist")?;
    let spec = &spec.clone().without_what_nobody_can_create();
    let signals = sys::receive_signals().doing("receiving signals")?;
    let temporary = match spec.backend {
        Backend::Landlock => Some(tempfile::tempdir().doing("making a temporary directory")?),
        _ => None,
    };
    let (child, channel) = match spec.backend {
        Backend::Bubblewrap => bubblewrap::start(spec, program).map(with_channel)?,
        Backend::Namespaces => namespaces::start(spec, program).map(with_channel)?,
        Backend::Landlock => {
            // Processes that leave their parents are ours to end.
            set_child_subreaper(Some(rustix::process::getpid())).doing("adopting processes")?;
            let folder = temporary.as_ref().map(tempfile::TempDir::path);
            match sys::fork(0).doing("forking")? {
                sys::Side::Parent(child) => (child, None),
                sys::Side::Child => inner::become_program(spec, program, folder),
            }
        }
    };
    if let (Reach::Hosts(rules), Some(channel)) = (&spec.network, &channel)
        && let Ok(listener) = proxy::receive_listener(channel)
    {
        // Inside, the first process opened it; if it failed, its exit code says so.
        proxy::serve(listener, rules, guard);
    }
    let supervised = Supervised {
        spec,
        child,
        channel,
        signals,
        owner,
    };
    supervised.wait()
}

fn with_channel((child, channel): (Pid, UnixStream)) -> (Pid, Option<UnixStream>) {
    (child, Some(channel))
}

/// No dump of this process, and nobody of the same user may look into it.
fn harden() -> io::Result<()> {
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    Ok(setrlimit(Resource::Core, none)?)
}

/// The process to end with; none when this is that process.
fn owner(owner: Owner) -> io::Result<Option<OwnedFd>> {
    let own = rustix::process::getpid();
    let id = Pid::from_raw(owner.id).ok_or_else(|| io::Error::other("it has no id"))?;
    if id == own {
        return Ok(None);
    }
    let watched = pidfd_open(id, PidfdFlags::empty())?;
    // The id may belong to another by now.
    match Owner::of(owner.id) {
        Some(found) if found == owner => Ok(Some(watched)),
        _ => Err(io::Error::other("it has ended")),
    }
}

struct Supervised<'a> {
    spec: &'a Spec,
    child: Pid,
    channel: Option<UnixStream>,
    signals: OwnedFd,
    owner: Option<OwnedFd>,
}

impl Supervised<'_> {
    fn wait(self) -> Result<u8, StageError> {
        let ended = self.watch().doing("watching the program");
        // A first process ends everything in its namespace; without one, all that is left is ours.
        // Once it was collected, its id may belong to another.
        if !matches!(ended, Ok(Some(_))) {
            let _ = kill_process(self.child, Signal::KILL);
        }
        if self.spec.backend == Backend::Landlock {
            end_children();
        }
        while sys::collect(true).is_some() {}
        Ok(ended?.unwrap_or(FAILED))
    }

    /// The exit code; none when the process to end with has ended.
    fn watch(&self) -> io::Result<Option<u8>> {
        loop {
            if let Some(code) = self.collected() {
                return Ok(Some(code));
            }
            let mut watched = vec![PollFd::new(&self.signals, PollFlags::IN)];
            watched.extend(
                self.owner
                    .iter()
                    .map(|owner| PollFd::new(owner, PollFlags::IN)),
            );
            rustix::io::retry_on_intr(|| poll(&mut watched, None))?;
            if watched
                .get(1)
                .is_some_and(|owner| !owner.revents().is_empty())
            {
                return Ok(None);
            }
            while let Some(signal) = sys::next_signal(&self.signals) {
                self.pass_on(signal);
            }
        }
    }

    /// The child's exit code once it has ended. Others are collected on the way.
    fn collected(&self) -> Option<u8> {
        while let Some((ended, code)) = sys::collect(false) {
            if ended == self.child {
                return Some(code);
            }
        }
        None
    }

    fn pass_on(&self, signal: i32) {
        // A terminal sends these to the program itself, which is in the same group.
        let of_terminal = matches!(signal, libc::SIGINT | libc::SIGQUIT);
        if signal == libc::SIGCHLD || (of_terminal && self.spec.scopes) {
            return;
        }
        match &self.channel {
            // The first process passes it on; if it is gone, so is the program.
            Some(channel) => drop(rustix::io::write(channel, &[signal as u8])),
            None => {
                let signal = Signal::from_named_raw(signal);
                // Fails when it has ended just now.
                let _ = signal.map(|signal| kill_process(self.child, signal));
            }
        }
    }
}

/// Ends every process below this one, also those that left their parents while this goes on.
fn end_children() {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    loop {
        let mut found = false;
        for entry in fs_err::read_dir("/proc").into_iter().flatten().flatten() {
            let id = entry
                .file_name()
                .to_str()
                .and_then(|name| name.parse().ok());
            let Some(id) = id.and_then(Pid::from_raw) else {
                continue;
            };
            let stat = fs_err::read_to_string(entry.path().join("stat")).unwrap_or_default();
            let mut fields = stat
                .rsplit_once(')')
                .map_or("", |(_, rest)| rest)
                .split_whitespace();
            let (state, parent) = (fields.next(), fields.next());
            if parent.and_then(|parent| parent.parse().ok()) == Some(own) && state != Some("Z") {
                let _ = kill_process(id, Signal::KILL);
                found = true;
            }
        }
        while sys::collect(false).is_some() {}
        if !found {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}
