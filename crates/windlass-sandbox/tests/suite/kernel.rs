//! The kernel: calls that reach other processes or its own machinery are refused.

use std::process::{Command, Stdio};

use windlass_ports::sandbox::Backend;

use crate::support::{NOBODY, Place, outside, ways};

#[test]
fn calls_that_reach_beyond_the_program_are_refused() {
    let place = Place::new();
    for way in ways() {
        let mut target = Command::new("sleep");
        target.arg("600").stdout(Stdio::null());
        if way.as_nobody {
            use std::os::unix::process::CommandExt as _;
            target.uid(NOBODY).gid(NOBODY);
        }
        let mut target = target.spawn().unwrap();
        let id = target.id().to_string();
        let supervisor = std::process::id().to_string();
        let confinement = place.confinement();
        let table = [
            (&["ptrace", &id][..], &["EPERM"][..]),
            (&["traceme"], &["EPERM"]),
            (&["readv", &id], &["EPERM"]),
            (&["pidfd_getfd"], &["EPERM"]),
            (&["kill", &id, "15"], &["ESRCH", "EPERM"]),
            (&["kill", &id, "0"], &["ESRCH", "EPERM"]),
            (&["kill", &supervisor, "0"], &["ESRCH", "EPERM"]),
            (&["mount", "/tmp"], &["EPERM"]),
            (&["umount", "/proc"], &["EPERM"]),
            (&["remount", "/"], &["EPERM"]),
            (&["open_tree", "/"], &["EPERM"]),
            (&["chroot", "/"], &["EPERM"]),
            (&["unshare"], &["EPERM"]),
            (&["clone"], &["EPERM"]),
            (&["clone3"], &["ENOSYS"]),
            (&["setns"], &["EPERM"]),
            (&["io_uring"], &["ENOSYS"]),
            (&["bpf"], &["EPERM"]),
            (&["keyctl"], &["EPERM"]),
            (&["perf"], &["EPERM"]),
            (&["userfaultfd"], &["EPERM"]),
            (&["kexec"], &["EPERM"]),
            (&["handle", "/"], &["EPERM"]),
            (&["tiocsti"], &["EPERM"]),
            // The kernel looks at half of the argument, so a filter has to as well.
            (&["tiocsti-high"], &["EPERM"]),
            #[cfg(target_arch = "x86_64")]
            (&["x32"], &["ENOSYS"]),
            (
                &["setuid", "1"],
                &["EPERM", "Invalid argument (os error 22)"],
            ),
        ];
        let lines: Vec<&[&str]> = table.iter().map(|(line, _)| *line).collect();
        let answers = way.attempts(&place, &confinement, &lines);
        for ((line, answer), (_, expected)) in answers.into_iter().zip(table) {
            assert!(
                expected.contains(&answer.as_str()),
                "{way:?} {line:?}: {answer}"
            );
        }
        assert!(
            target.try_wait().unwrap().is_none(),
            "{way:?}: the target was ended"
        );
        target.kill().unwrap();
        target.wait().unwrap();
    }
}

/// What the calls above answer without a sandbox, so that they can fail.
#[test]
fn outside_the_same_calls_work() {
    let place = Place::new();
    let file = place.path("outside/file");
    for (line, expected) in [
        (&["traceme"][..], "done"),
        (&["io_uring"], "done"),
        (&["pair"], "done"),
        (&["socket", "2", "1", "0"], "done"),
        (&["read", file.to_str().unwrap()], "done"),
        (&["write", file.to_str().unwrap()], "done"),
    ] {
        assert_eq!(outside(&place, line), expected, "{line:?}");
    }
}

#[test]
fn nothing_is_left_of_privileges() {
    let place = Place::new();
    for way in ways() {
        let script = "grep -E '^(Cap|NoNewPrivs|Seccomp:|Uid)' /proc/self/status; ulimit -c";
        let printed = way.output(&place, &place.confinement(), &["sh", "-c", script]);
        // Only root may empty the bounding set; without new privileges it gives nothing back.
        let keeps = way.backend == Backend::Landlock && way.as_nobody;
        let sets = printed.lines().filter(|line| line.starts_with("Cap"));
        for line in sets.filter(|line| !keeps || !line.starts_with("CapBnd")) {
            assert!(line.ends_with("\t0000000000000000"), "{way:?} {printed}");
        }
        for part in ["NoNewPrivs:\t1", "Seccomp:\t2"] {
            assert!(printed.contains(part), "{way:?} {printed}");
        }
        assert_eq!(printed.lines().last(), Some("0"), "{way:?}: core dumps");
        let user = if way.as_nobody {
            NOBODY
        } else {
            rustix::process::getuid().as_raw()
        };
        assert!(
            printed.contains(&format!("Uid:\t{user}\t")),
            "{way:?} {printed}"
        );
    }
}

#[test]
fn no_descriptor_of_the_caller_is_handed_on() {
    let place = Place::new();
    let secret = fs_err::File::open(place.path("secret/file")).unwrap();
    rustix::io::fcntl_setfd(&secret, rustix::io::FdFlags::empty()).unwrap();
    for way in ways() {
        let printed = way.output(&place, &place.confinement(), &["ls", "/proc/self/fd"]);
        // The last one is the directory that `ls` reads.
        assert_eq!(printed, "0\n1\n2\n3", "{way:?}");
    }
}

#[test]
fn the_first_process_and_others_cannot_be_looked_into() {
    let place = Place::new();
    for way in ways()
        .into_iter()
        .filter(|way| way.backend != Backend::Landlock)
    {
        let confinement = place.confinement();
        for line in [
            &["read", "/proc/1/environ"][..],
            &["read", "/proc/1/mem"],
            &["list", "/proc/1/root/etc"],
            &["read", "/proc/1/fd/0"],
            &["ptrace", "1"],
        ] {
            let answer = way.attempt(&place, &confinement, line);
            assert!(
                ["EACCES", "EPERM"].contains(&answer.as_str()),
                "{way:?} {line:?}: {answer}"
            );
        }
        let seen = way.output(
            &place,
            &confinement,
            &["sh", "-c", "ls /proc | grep -c '^[0-9]'"],
        );
        assert!(
            seen.parse::<u32>().unwrap() < 10,
            "{way:?} sees {seen} processes"
        );
    }
}
