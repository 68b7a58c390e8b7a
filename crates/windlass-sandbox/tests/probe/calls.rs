//! System calls that must be refused inside a sandbox, made without a library in between.
#![expect(unsafe_code, reason = "raw system calls are what is tested")]

use std::{
    ffi::{CString, OsString},
    io::{self, Write as _},
    os::unix::ffi::OsStrExt as _,
    process::ExitCode,
};

pub fn run(arguments: &[OsString]) -> ExitCode {
    let words: Vec<&str> = arguments
        .iter()
        .map(|word| word.to_str().unwrap())
        .collect();
    let outcome = match words.as_slice() {
        // In a grandchild whose parent is gone.
        ["twice", rest @ ..] => return detached(rest),
        ["each", lines @ ..] => return each(lines),
        ["features"] => return features(),
        ["without-landlock"] => {
            hide_landlock();
            return features();
        }
        ["hold", backend, directory, mark] => return hold(backend, directory, mark),
        ["try", what, rest @ ..] => attempt(what, rest),
        _ => panic!("unknown: {words:?}"),
    };
    let text = match outcome {
        Ok(_) => "done".to_owned(),
        Err(error) => name(&error),
    };
    writeln!(io::stdout(), "{text}").unwrap();
    ExitCode::SUCCESS
}

/// Tries one after the other, each in a process of its own.
fn each(lines: &[&str]) -> ExitCode {
    let own = std::env::current_exe().unwrap();
    for line in lines {
        let mut command = std::process::Command::new(&own);
        command.arg("try").args(line.split('\u{1f}'));
        assert!(command.status().unwrap().success(), "{line}");
    }
    ExitCode::SUCCESS
}

fn sandbox() -> windlass_sandbox::KernelSandbox {
    let own = std::env::current_exe().unwrap();
    windlass_sandbox::KernelSandbox::of_this_machine(&own, std::env::var_os("PATH").as_deref())
}

/// What a sandbox finds here, and what it would do.
fn features() -> ExitCode {
    use windlass_ports::sandbox::{HostRule, Network, Sandbox as _};
    let sandbox = sandbox();
    let found = sandbox.features();
    let mut output = io::stdout();
    writeln!(output, "landlock: {:?}", found.landlock).unwrap();
    let namespaces = found
        .namespaces
        .clone()
        .map_or_else(|why| why, |()| "yes".to_owned());
    writeln!(output, "namespaces: {namespaces}").unwrap();
    let hosts = Network::Hosts(vec![HostRule::parse("a.example").unwrap()]);
    for (name, network) in [("off", Network::Off), ("hosts", hosts), ("on", Network::On)] {
        let answer = match sandbox.backend(&network) {
            Ok(backend) => backend.to_string(),
            Err(refusal) => refusal.to_string(),
        };
        writeln!(output, "{name}: {answer}").unwrap();
    }
    ExitCode::SUCCESS
}

/// A filter as a container's, which makes the kernel look as if it had no Landlock.
fn hide_landlock() {
    use seccompiler::{SeccompAction, SeccompFilter, apply_filter};
    let calls = [
        libc::SYS_landlock_create_ruleset,
        libc::SYS_landlock_restrict_self,
    ];
    let rules = calls.map(|call| (call, Vec::new())).into();
    let filter = SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        SeccompAction::Errno(libc::ENOSYS as u32),
        std::env::consts::ARCH.try_into().unwrap(),
    );
    let program: seccompiler::BpfProgram = filter.unwrap().try_into().unwrap();
    apply_filter(&program).unwrap();
}

/// Starts a program that lasts in a sandbox, and waits for it.
fn hold(backend: &str, directory: &str, mark: &str) -> ExitCode {
    use windlass_ports::sandbox::{Confinement, Sandbox as _, SandboxRequest};
    let machine = sandbox();
    let mut found = machine.features().clone();
    if backend != "bubblewrap" {
        found.bubblewrap = Err(String::new());
    }
    if backend == "landlock" {
        found.namespaces = Err(String::new());
    }
    let own = std::env::current_exe().unwrap();
    let sandbox = windlass_sandbox::KernelSandbox::with_features(&own, found);
    let mut confinement = Confinement::read_only(directory.into(), None);
    confinement.read.push(directory.into());
    let prepared = sandbox.prepare(SandboxRequest {
        program: "sh".as_ref(),
        arguments: &[
            "-c".into(),
            format!("setsid sleep {mark} & sleep {mark}").into(),
        ],
        environment: &std::env::vars_os().collect::<Vec<_>>(),
        confinement: &confinement,
    });
    let prepared = prepared.unwrap();
    // In a group of its own, so that nothing but the sandbox ends it.
    let mut command = std::process::Command::new(prepared.program);
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.args(prepared.arguments).spawn().unwrap();
    child.wait().unwrap();
    ExitCode::SUCCESS
}

/// Forks twice, lets the parent in between end, and runs the rest there in a session of its own.
fn detached(rest: &[&str]) -> ExitCode {
    let (mut reader, writer) = io::pipe().unwrap();
    // SAFETY: this process has one thread.
    unsafe {
        if libc::fork() == 0 {
            let between = libc::getpid();
            if libc::fork() == 0 {
                libc::setsid();
                while libc::getppid() == between {
                    libc::usleep(500);
                }
                let own = std::env::current_exe().unwrap();
                let output = std::process::Command::new(own).args(rest).output().unwrap();
                (&writer).write_all(&output.stdout).unwrap();
            }
            libc::_exit(0);
        }
    }
    drop(writer);
    io::copy(&mut reader, &mut io::stdout()).unwrap();
    ExitCode::SUCCESS
}

fn name(error: &io::Error) -> String {
    let known = [
        (libc::EPERM, "EPERM"),
        (libc::EACCES, "EACCES"),
        (libc::EROFS, "EROFS"),
        (libc::ENOENT, "ENOENT"),
        (libc::ESRCH, "ESRCH"),
        (libc::EXDEV, "EXDEV"),
        (libc::ENOSYS, "ENOSYS"),
        (libc::EBUSY, "EBUSY"),
        (libc::ECONNREFUSED, "ECONNREFUSED"),
        (libc::ENETUNREACH, "ENETUNREACH"),
        (libc::EEXIST, "EEXIST"),
        (libc::EISDIR, "EISDIR"),
        (libc::EAFNOSUPPORT, "EAFNOSUPPORT"),
    ];
    let number = error.raw_os_error().unwrap_or_default();
    let found = known.iter().find(|(known, _)| *known == number);
    found.map_or_else(|| format!("{error}"), |(_, name)| (*name).to_owned())
}

fn attempt(what: &str, rest: &[&str]) -> io::Result<i64> {
    let path = |index: usize| CString::new(OsString::from(rest[index]).as_bytes()).unwrap();
    let number = |index: usize| rest[index].parse::<i64>().unwrap();
    let mut buffer = [0_u8; 256];
    let buffer = &raw mut buffer;
    // SAFETY: every pointer leads to memory that lives through the call; a call that succeeds
    // against the test's expectation changes at most this process.
    let result = unsafe {
        match what {
            "read" => {
                let file = libc::open(path(0).as_ptr(), libc::O_RDONLY);
                if file < 0 {
                    -1
                } else {
                    libc::read(file, buffer.cast(), 256) as i64
                }
            }
            "list" => libc::open(path(0).as_ptr(), libc::O_RDONLY | libc::O_DIRECTORY).into(),
            "write" => libc::open(path(0).as_ptr(), libc::O_WRONLY).into(),
            "append" => libc::open(path(0).as_ptr(), libc::O_WRONLY | libc::O_APPEND).into(),
            "truncate" => libc::truncate(path(0).as_ptr(), 0).into(),
            "create" => libc::open(path(0).as_ptr(), libc::O_WRONLY | libc::O_CREAT, 0o644).into(),
            "mkdir" => libc::mkdir(path(0).as_ptr(), 0o755).into(),
            "rmdir" => libc::rmdir(path(0).as_ptr()).into(),
            "unlink" => libc::unlink(path(0).as_ptr()).into(),
            "chmod" => libc::chmod(path(0).as_ptr(), 0o777).into(),
            "utime" => libc::utimes(path(0).as_ptr(), std::ptr::null()).into(),
            "symlink" => libc::symlink(path(0).as_ptr(), path(1).as_ptr()).into(),
            "link" => libc::link(path(0).as_ptr(), path(1).as_ptr()).into(),
            "rename" => libc::rename(path(0).as_ptr(), path(1).as_ptr()).into(),
            "exchange" => libc::renameat2(
                libc::AT_FDCWD,
                path(0).as_ptr(),
                libc::AT_FDCWD,
                path(1).as_ptr(),
                libc::RENAME_EXCHANGE,
            )
            .into(),
            "socket" => libc::socket(number(0) as i32, number(1) as i32, number(2) as i32).into(),
            "tcp" => {
                let socket = libc::socket(libc::AF_INET, libc::SOCK_STREAM, 0);
                if socket < 0 {
                    -1
                } else {
                    let mut to: libc::sockaddr_in = std::mem::zeroed();
                    to.sin_family = libc::AF_INET as u16;
                    to.sin_port = (number(0) as u16).to_be();
                    to.sin_addr.s_addr = u32::from_ne_bytes([127, 0, 0, 1]);
                    libc::connect(socket, (&raw const to).cast(), size_of_val(&to) as u32).into()
                }
            }
            "udp" => {
                let socket = libc::socket(libc::AF_INET, libc::SOCK_DGRAM, 0);
                if socket < 0 {
                    -1
                } else {
                    let mut to: libc::sockaddr_in = std::mem::zeroed();
                    to.sin_family = libc::AF_INET as u16;
                    to.sin_port = (number(0) as u16).to_be();
                    to.sin_addr.s_addr = u32::from_ne_bytes([192, 0, 2, 1]);
                    libc::sendto(
                        socket,
                        buffer.cast(),
                        1,
                        0,
                        (&raw const to).cast(),
                        size_of_val(&to) as u32,
                    ) as i64
                }
            }
            // A leading @ is the abstract name space.
            "unix" => {
                let socket = libc::socket(libc::AF_UNIX, libc::SOCK_STREAM, 0);
                if socket < 0 {
                    -1
                } else {
                    let mut to: libc::sockaddr_un = std::mem::zeroed();
                    to.sun_family = libc::AF_UNIX as u16;
                    for (place, byte) in to.sun_path.iter_mut().zip(rest[0].bytes()) {
                        *place = if byte == b'@' {
                            0
                        } else {
                            byte as libc::c_char
                        };
                    }
                    let length = 2 + rest[0].len() + usize::from(!rest[0].starts_with('@'));
                    libc::connect(socket, (&raw const to).cast(), length as u32).into()
                }
            }
            "pair" => {
                let mut pair = [0; 2];
                libc::socketpair(libc::AF_UNIX, libc::SOCK_STREAM, 0, pair.as_mut_ptr()).into()
            }
            "ptrace" => libc::ptrace(libc::PTRACE_ATTACH, number(0) as i32, 0, 0),
            "traceme" => libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0),
            "readv" => {
                let local = libc::iovec {
                    iov_base: buffer.cast(),
                    iov_len: 1,
                };
                let remote = libc::iovec {
                    iov_base: buffer.cast(),
                    iov_len: 1,
                };
                libc::process_vm_readv(
                    number(0) as i32,
                    &raw const local,
                    1,
                    &raw const remote,
                    1,
                    0,
                ) as i64
            }
            "kill" => libc::kill(number(0) as i32, number(1) as i32).into(),
            "pidfd_getfd" => libc::syscall(libc::SYS_pidfd_getfd, 3, 0, 0),
            "mount" => libc::mount(
                c"none".as_ptr(),
                path(0).as_ptr(),
                c"tmpfs".as_ptr(),
                0,
                std::ptr::null(),
            )
            .into(),
            "umount" => libc::umount2(path(0).as_ptr(), libc::MNT_DETACH).into(),
            "open_tree" => libc::syscall(libc::SYS_open_tree, libc::AT_FDCWD, path(0).as_ptr(), 1),
            "remount" => libc::mount(
                std::ptr::null(),
                path(0).as_ptr(),
                std::ptr::null(),
                libc::MS_REMOUNT | libc::MS_BIND,
                std::ptr::null(),
            )
            .into(),
            "chroot" => libc::chroot(path(0).as_ptr()).into(),
            "unshare" => libc::unshare(libc::CLONE_NEWUSER).into(),
            "clone" => libc::syscall(
                libc::SYS_clone,
                libc::CLONE_NEWUSER | libc::SIGCHLD,
                0,
                0,
                0,
                0,
            ),
            "clone3" => {
                let mut arguments = [0_u64; 8];
                arguments[0] = libc::CLONE_NEWUSER as u64;
                libc::syscall(libc::SYS_clone3, arguments.as_mut_ptr(), 64)
            }
            "setns" => {
                let file = libc::open(c"/proc/self/ns/user".as_ptr(), libc::O_RDONLY);
                libc::setns(file, 0).into()
            }
            "io_uring" => {
                let mut parameters = [0_u8; 120];
                libc::syscall(libc::SYS_io_uring_setup, 4, parameters.as_mut_ptr())
            }
            "bpf" => libc::syscall(libc::SYS_bpf, 5, buffer, 64),
            "keyctl" => libc::syscall(libc::SYS_keyctl, 0, -3, 1),
            "perf" => libc::syscall(libc::SYS_perf_event_open, buffer, 0, -1, -1, 0),
            "userfaultfd" => libc::syscall(libc::SYS_userfaultfd, 1),
            "kexec" => libc::syscall(libc::SYS_kexec_load, 0, 0, 0, 0),
            "tiocsti" => libc::ioctl(0, libc::TIOCSTI, c"x".as_ptr()).into(),
            "tiocsti-high" => {
                libc::syscall(libc::SYS_ioctl, 0, libc::TIOCSTI | (1 << 40), c"x".as_ptr())
            }
            #[cfg(target_arch = "x86_64")]
            "x32" => libc::syscall(
                libc::SYS_ptrace | 0x4000_0000,
                libc::PTRACE_TRACEME,
                0,
                0,
                0,
            ),
            "setuid" => libc::setuid(number(0) as u32).into(),
            "handle" => libc::syscall(
                libc::SYS_name_to_handle_at,
                libc::AT_FDCWD,
                path(0).as_ptr(),
                buffer,
                buffer,
                0,
            ),
            _ => panic!("unknown: {what}"),
        }
    };
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}
