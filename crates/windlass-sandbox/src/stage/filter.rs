//! Which system calls a confined program may make: all but those that reach beyond it.
//!
//! A list of what is refused, so that new harmless calls of a new libc work. What a call would need
//! a capability for is refused as well where a bug in the kernel behind it would cost the sandbox.

use std::{collections::BTreeMap, io};

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Length, SeccompCmpOp as Is, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch, apply_filter,
};

use super::{Doing as _, StageError};
use crate::spec::{Reach, Spec};

/// Refused with EPERM, whatever the arguments.
const REFUSED: [libc::c_long; 50] = [
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // The kernel's own machinery.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_fanotify_init,
    libc::SYS_fanotify_mark,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // Mounts, roots and namespaces.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    OPEN_TREE_ATTR,
    libc::SYS_setns,
    libc::SYS_unshare,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_quotactl,
    QUOTACTL_FD,
    // The machine.
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_vhangup,
    libc::SYS_lookup_dcookie,
    libc::SYS_nfsservctl,
];

/// The same numbers on every architecture.
const QUOTACTL_FD: libc::c_long = 443;
const OPEN_TREE_ATTR: libc::c_long = 467;

/// Refused as if the kernel did not have them: programs know how to do without. A filter cannot read
/// what `clone3` and io_uring are told, so it could not refuse in part.
const ABSENT: [libc::c_long; 4] = [
    libc::SYS_clone3,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
];

/// New namespaces, as flags of `clone`.
const NAMESPACES: [libc::c_int; 8] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
    0x80,
];

/// Put text into the input of the terminal that is shared with outside.
const TERMINAL_INPUT: [libc::c_ulong; 2] = [libc::TIOCSTI, 0x541C];

/// Socket types that see or make whole packets, for any family.
const WHOLE_PACKETS: [libc::c_int; 2] = [libc::SOCK_RAW, 10];

/// Installs the filters. No call after this one can be undone.
pub fn install(spec: &Spec) -> Result<(), StageError> {
    for program in programs(spec).doing("making the filter of system calls")? {
        apply_filter(&program)
            .map_err(io::Error::other)
            .doing("installing the filter of system calls")?;
    }
    Ok(())
}

fn programs(spec: &Spec) -> io::Result<Vec<BpfProgram>> {
    let mut refused: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    for call in REFUSED {
        refused.insert(call, Vec::new());
    }
    #[cfg(target_arch = "x86_64")]
    for call in [libc::SYS_iopl, libc::SYS_ioperm] {
        refused.insert(call, Vec::new());
    }
    let namespaces =
        NAMESPACES.map(|flag| vec![argument(0, Is::MaskedEq(flag as u64), flag as u64)]);
    refused.insert(libc::SYS_clone, rules(namespaces)?);
    let terminal = TERMINAL_INPUT.map(|request| vec![argument(1, Is::Eq, request)]);
    refused.insert(libc::SYS_ioctl, rules(terminal)?);
    refused.insert(libc::SYS_socket, rules(sockets(spec))?);
    let other = vec![argument(0, Is::Ne, libc::AF_UNIX as u64)];
    refused.insert(libc::SYS_socketpair, rules([other])?);

    let absent = ABSENT.map(|call| (call, Vec::new())).into();
    let mut programs = vec![
        compile(absent, libc::ENOSYS)?,
        compile(refused, libc::EPERM)?,
    ];
    if cfg!(target_arch = "x86_64") {
        programs.push(without_x32());
    }
    Ok(programs)
}

/// Kinds of sockets that are refused, each as conditions that all hold.
fn sockets(spec: &Spec) -> Vec<Vec<io::Result<SeccompCondition>>> {
    let mut families = Vec::new();
    if spec.unix_sockets {
        families.push(libc::AF_UNIX);
    }
    if spec.network != Reach::Off {
        families.extend([libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK]);
    }
    // Every family that is not listed; with none listed, every socket.
    let others = match families.is_empty() {
        true => vec![argument(0, Is::Ge, 0)],
        false => families
            .iter()
            .map(|family| argument(0, Is::Ne, *family as u64))
            .collect(),
    };
    let mut refused = vec![others];
    for kind in WHOLE_PACKETS {
        // The low bits are the type, the others are flags. Netlink is always of this type.
        for family in [libc::AF_INET, libc::AF_INET6] {
            refused.push(vec![
                argument(0, Is::Eq, family as u64),
                argument(1, Is::MaskedEq(0xf), kind as u64),
            ]);
        }
    }
    // Of netlink, only the table of interfaces and routes, which name resolution reads.
    refused.push(vec![
        argument(0, Is::Eq, libc::AF_NETLINK as u64),
        argument(2, Is::Ne, libc::NETLINK_ROUTE as u64),
    ]);
    refused
}

/// Any of the rules, of which all conditions must hold.
fn rules(
    all: impl IntoIterator<Item = Vec<io::Result<SeccompCondition>>>,
) -> io::Result<Vec<SeccompRule>> {
    all.into_iter()
        .map(|conditions| {
            let conditions = conditions.into_iter().collect::<io::Result<Vec<_>>>()?;
            SeccompRule::new(conditions).map_err(io::Error::other)
        })
        .collect()
}

/// A condition on the low half of an argument: all that the kernel looks at for these.
fn argument(index: u8, is: Is, value: u64) -> io::Result<SeccompCondition> {
    SeccompCondition::new(index, Length::Dword, is, value).map_err(io::Error::other)
}

fn compile(rules: BTreeMap<i64, Vec<SeccompRule>>, error: libc::c_int) -> io::Result<BpfProgram> {
    let architecture: TargetArch = std::env::consts::ARCH
        .try_into()
        .map_err(io::Error::other)?;
    SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        SeccompAction::Errno(error as u32),
        architecture,
    )
    .and_then(TryInto::try_into)
    .map_err(io::Error::other)
}

/// Refuses the second set of numbers that x86-64 kernels may have for the same calls (x32), which the
/// other filters do not know.
fn without_x32() -> BpfProgram {
    use seccompiler::sock_filter;
    const X32: u32 = 0x4000_0000;
    let step = |code: u32, jt, jf, k| sock_filter {
        code: code as u16,
        jt,
        jf,
        k,
    };
    vec![
        // The number of the call is the first field.
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 0, 1, X32),
        step(
            libc::BPF_RET | libc::BPF_K,
            0,
            0,
            libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32,
        ),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ]
}
