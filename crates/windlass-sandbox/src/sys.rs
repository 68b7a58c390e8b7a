//! System calls that no crate wraps safely. Everything here is small and says why it is sound.

use std::{
    io,
    os::fd::{AsFd, AsRawFd as _, FromRawFd as _, OwnedFd, RawFd},
    os::unix::process::CommandExt as _,
    process::Stdio,
};

use rustix::process::Pid;

fn checked(result: libc::c_long) -> io::Result<libc::c_long> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

/// The version of Landlock's interface; none without Landlock.
#[expect(unsafe_code, reason = "the crate for Landlock hides the version")]
pub fn landlock_version() -> Option<u32> {
    const VERSION: libc::c_ulong = 1;
    // SAFETY: with this flag the kernel reads no memory; it wants no attributes and size 0.
    let found = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<libc::c_void>(),
            0_usize,
            VERSION,
        )
    };
    u32::try_from(found).ok().filter(|version| *version > 0)
}

/// Whether filters of system calls can be installed.
#[expect(unsafe_code, reason = "asked by a call that must fail")]
pub fn has_seccomp_filters() -> bool {
    // SAFETY: the null pointer is the question: the kernel rejects it with EFAULT where it knows
    // filters, and never reads through it.
    let result = unsafe {
        libc::prctl(
            libc::PR_SET_SECCOMP,
            libc::SECCOMP_MODE_FILTER,
            std::ptr::null::<libc::c_void>(),
        )
    };
    result == -1 && io::Error::last_os_error().raw_os_error() == Some(libc::EFAULT)
}

/// Which side of a fork this is.
pub enum Side {
    /// The new process.
    Child,
    /// The process that made it.
    Parent(Pid),
}

/// Forks, with new namespaces for the child. To be called while this process has one thread.
#[expect(unsafe_code, reason = "no safe fork exists")]
pub fn fork(namespaces: libc::c_int) -> io::Result<Side> {
    let flags = libc::c_long::from(namespaces | libc::SIGCHLD);
    // SAFETY: without CLONE_VM and with a null stack this is a fork: the child continues on its own
    // copy of this stack. The process has one thread (checked below), so no lock is held by a thread
    // that the child lacks. The last arguments are unused without their flags, so that their order,
    // which differs between architectures, does not matter.
    let id = unsafe {
        debug_assert_eq!(threads(), 1, "a fork would lose threads");
        libc::syscall(libc::SYS_clone, flags, 0_usize, 0_usize, 0_usize, 0_usize)
    };
    match Pid::from_raw(checked(id)? as i32) {
        None => Ok(Side::Child),
        Some(child) => Ok(Side::Parent(child)),
    }
}

/// How many threads this process has.
fn threads() -> usize {
    fs_err::read_dir("/proc/self/task").map_or(1, Iterator::count)
}

/// Changes the attributes of a tree of mounts: `set` are `MOUNT_ATTR_*`.
#[expect(unsafe_code, reason = "rustix has no mount_setattr")]
pub fn set_mount_attributes(tree: impl AsFd, set: u64, whole: bool) -> io::Result<()> {
    let attributes = libc::mount_attr {
        attr_set: set,
        attr_clr: 0,
        propagation: 0,
        userns_fd: 0,
    };
    let depth = if whole { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the path is an empty C string, the attributes live through the call, and the size is
    // theirs.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            tree.as_fd().as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH | depth,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    checked(result).map(drop)
}

/// Switches the loopback interface of this network namespace on.
#[expect(unsafe_code, reason = "an interface is configured by ioctl")]
pub fn loopback_up() -> io::Result<()> {
    use rustix::net::{AddressFamily, SocketType, socket};
    let socket = socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    // SAFETY: all zero bytes are a valid ifreq.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (place, byte) in request.ifr_name.iter_mut().zip(b"lo") {
        *place = *byte as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    // SAFETY: the request is an ifreq with a name that ends in a zero byte, and lives through the
    // call.
    let result = unsafe {
        libc::ioctl(
            socket.as_raw_fd(),
            libc::SIOCSIFFLAGS as _,
            &raw const request,
        )
    };
    checked(result.into()).map(drop)
}

/// Lets every descriptor from 3 on close when a program is executed.
#[expect(unsafe_code, reason = "no safe wrapper exists")]
pub fn close_on_exec_from_3() -> io::Result<()> {
    // SAFETY: the flag only marks descriptors; none is closed under code that uses it.
    let result = unsafe {
        libc::syscall(
            libc::SYS_close_range,
            3_u32,
            u32::MAX,
            libc::CLOSE_RANGE_CLOEXEC,
        )
    };
    checked(result).map(drop)
}

/// Signals that the supervisor and the first process read instead of dying of them.
pub const SIGNALS: [libc::c_int; 5] = [
    libc::SIGTERM,
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGCHLD,
];

/// Blocks these signals and gives a descriptor to read them from.
#[expect(unsafe_code, reason = "signal sets have no safe wrapper")]
pub fn receive_signals() -> io::Result<OwnedFd> {
    // SAFETY: the set is initialised by sigemptyset before it is used; the descriptor that signalfd
    // returns is new and owned by nobody else.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        for signal in SIGNALS {
            libc::sigaddset(&raw mut set, signal);
        }
        checked(libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()).into())?;
        let found = libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
        checked(found.into())?;
        Ok(OwnedFd::from_raw_fd(found))
    }
}

/// Takes the next signal that arrived, if one did.
pub fn next_signal(signals: &OwnedFd) -> Option<i32> {
    let mut bytes = [0; size_of::<libc::signalfd_siginfo>()];
    let read = rustix::io::read(signals, &mut bytes).ok()?;
    // The number is the first field.
    let number = bytes.get(..4)?.try_into().ok()?;
    (read == bytes.len()).then(|| u32::from_ne_bytes(number) as i32)
}

/// Unblocks all signals, for the program that this process becomes.
#[expect(unsafe_code, reason = "signal sets have no safe wrapper")]
pub fn unblock_signals() {
    // SAFETY: the set is initialised by sigemptyset before it is used.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const set, std::ptr::null_mut());
    }
}

/// Takes over a descriptor that another stage named in an argument.
#[expect(unsafe_code, reason = "a number becomes an owned descriptor")]
pub fn inherited(number: RawFd) -> io::Result<OwnedFd> {
    // Fails when it is not open.
    fs_err::symlink_metadata(format!("/proc/self/fd/{number}"))?;
    // SAFETY: it is open, and this is the start of the stage: nothing else has taken it over.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Waits for whichever child ended; none when no child has, or there are none.
pub fn collect(waiting: bool) -> Option<(Pid, u8)> {
    use rustix::process::{WaitOptions, wait};
    let options = if waiting {
        WaitOptions::empty()
    } else {
        WaitOptions::NOHANG
    };
    let (child, status) = rustix::io::retry_on_intr(|| wait(options)).ok()??;
    let code = status.exit_status().map(|code| code as u8);
    let signal = status.terminating_signal().map(|signal| 128 + signal as u8);
    Some((child, code.or(signal).unwrap_or(125)))
}

/// What a probe found: a step that failed, and how.
pub type Probe = Result<(), (u8, io::Error)>;

/// Tries something in a process of its own that does nothing else. `steps` may only make system
/// calls and returns the step that failed.
#[expect(unsafe_code, reason = "code between fork and exec")]
pub fn probe(steps: impl Fn() -> Probe + Send + Sync + 'static) -> Probe {
    /// Carries step and error number through the one integer that a failed start reports.
    const STEP: i32 = 1 << 16;
    let mut command = windlass_process::command("/proc/self/exe");
    command.stdin(Stdio::null());
    // SAFETY: the closure allocates nothing and takes no lock; it makes system calls on prepared
    // data, which is what may be done between fork and exec. It always fails, so that nothing is
    // executed.
    unsafe {
        command.pre_exec(move || {
            Err(match steps() {
                Ok(()) => io::Error::from_raw_os_error(STEP),
                Err((step, error)) => {
                    let number = error.raw_os_error().unwrap_or(libc::EIO);
                    io::Error::from_raw_os_error(STEP * (i32::from(step) + 1) + number)
                }
            })
        });
    }
    let error = match command.spawn() {
        Ok(_) => return Err((0, io::Error::other("the probe was executed"))),
        Err(error) => error,
    };
    match error.raw_os_error() {
        Some(STEP) => Ok(()),
        Some(number) if number > STEP => {
            let step = (number / STEP - 1) as u8;
            Err((step, io::Error::from_raw_os_error(number % STEP)))
        }
        _ => Err((0, error)),
    }
}
