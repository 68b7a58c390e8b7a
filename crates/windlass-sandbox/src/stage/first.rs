//! The first process of a namespace: starts the program, collects what ends, and ends everything
//! when the program or the supervisor does.

use std::{
    ffi::OsString,
    io,
    os::fd::{AsFd as _, OwnedFd},
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    process::{
        DumpableBehavior, Pid, Signal, kill_process, set_dumpable_behavior,
        set_parent_process_death_signal,
    },
};

use super::{Doing as _, FAILED, StageError, inner};
use crate::{
    proxy,
    spec::{Reach, Spec},
    sys,
};

/// Runs the program and everything it starts to the end.
pub fn run(spec: &Spec, program: &[OsString], channel: OwnedFd) -> Result<u8, StageError> {
    set_dumpable_behavior(DumpableBehavior::NotDumpable).doing("protecting the first process")?;
    // A second way, besides the channel, to notice that the supervisor is gone.
    set_parent_process_death_signal(Some(Signal::KILL)).doing("following the supervisor")?;
    if !spec.scopes {
        // Landlock does not keep signals inside here, and a group reaches out of the namespace.
        rustix::process::setsid().doing("making a session")?;
    }
    if let Reach::Hosts(_) = spec.network {
        proxy::send_listener(&channel).doing("opening the proxy's port")?;
    }
    let signals = sys::receive_signals().doing("receiving signals")?;
    let child = match sys::fork(0).doing("forking")? {
        sys::Side::Parent(child) => child,
        sys::Side::Child => inner::become_program(spec, program, None),
    };
    inner::drop_capabilities().doing("dropping capabilities")?;
    wait(child, &channel, &signals).doing("waiting for the program")
}

fn wait(child: Pid, channel: &OwnedFd, signals: &OwnedFd) -> io::Result<u8> {
    loop {
        while let Some((ended, code)) = sys::collect(false) {
            if ended == child {
                return Ok(code);
            }
        }
        let mut watched = [
            PollFd::new(signals, PollFlags::IN),
            PollFd::new(channel, PollFlags::IN),
        ];
        rustix::io::retry_on_intr(|| poll(&mut watched, None))?;
        let heard = !watched[1].revents().is_empty();
        // Only that a child ended matters of these; the loop looks.
        while sys::next_signal(signals).is_some() {}
        if !heard {
            continue;
        }
        let mut byte = [0];
        match rustix::io::read(channel.as_fd(), &mut byte) {
            Ok(1) => {
                if let Some(signal) = Signal::from_named_raw(byte[0].into()) {
                    // Fails when it has ended just now.
                    let _ = kill_process(child, signal);
                }
            }
            // The supervisor is gone.
            _ => return Ok(FAILED),
        }
    }
}
