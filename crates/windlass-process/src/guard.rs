//! Ends the processes of this program when it is killed itself.
//!
//! A process in a group of its own survives its parent. The kernel's parent-death signal would be
//! the short way; it hangs on the thread that started the process, is lost by programs that change
//! their privileges, and only Linux has it. So one small shell is started with the first process
//! that lives longer than a moment. It is told of every group over a pipe, and when the pipe
//! closes, which the kernel does however this program ends, it ends the groups that are left.

use std::{
    collections::BTreeSet,
    io::{self, Write as _},
    os::unix::process::CommandExt as _,
    process::{Child, ChildStdin, Stdio},
    sync::{Mutex, PoisonError},
};

use rustix::process::Pid;

/// `+ID` and `-ID` add and remove a group. Signals from a terminal are for the program, not for
/// its guard.
const SCRIPT: &str = r#"trap '' INT TERM HUP QUIT
groups=' '
while read -r sign group; do
  case $sign in
    +) groups="$groups$group " ;;
    -) case $groups in *" $group "*) groups="${groups%% $group *} ${groups#* $group }" ;; esac ;;
  esac
done
for group in $groups; do kill -KILL "-$group"; done 2>/dev/null
"#;

static GUARD: Mutex<Guard> = Mutex::new(Guard {
    shell: None,
    groups: BTreeSet::new(),
});

struct Guard {
    shell: Option<(Child, ChildStdin)>,
    groups: BTreeSet<i32>,
}

/// From now on the group ends when this program does.
pub(crate) fn watch(group: Pid) {
    let mut guard = GUARD.lock().unwrap_or_else(PoisonError::into_inner);
    let group = group.as_raw_nonzero().get();
    if guard.groups.insert(group) {
        // Without a shell a group that is left over ends when its work is taken up again.
        let _ = guard.tell('+', group);
    }
}

/// The group has ended, or may stay. To be called before its leader is collected: afterwards its
/// id may belong to another.
pub(crate) fn release(group: Pid) {
    let mut guard = GUARD.lock().unwrap_or_else(PoisonError::into_inner);
    let group = group.as_raw_nonzero().get();
    if guard.groups.remove(&group) {
        let _ = guard.tell('-', group);
    }
}

impl Guard {
    fn tell(&mut self, sign: char, group: i32) -> io::Result<()> {
        if let Some((_, pipe)) = &mut self.shell
            && writeln!(pipe, "{sign} {group}").is_ok()
        {
            return Ok(());
        }
        // There is none yet, or it was ended by another: a new one learns of all groups.
        if let Some((mut gone, pipe)) = self.shell.take() {
            drop(pipe);
            let _ = gone.wait();
        }
        if self.groups.is_empty() {
            return Ok(());
        }
        let mut child = crate::command("/bin/sh")
            .args(["-c", SCRIPT, "windlass-guard"])
            .current_dir("/")
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let mut pipe = child
            .stdin
            .take()
            .ok_or_else(|| io::Error::other("the guard has no input"))?;
        for group in &self.groups {
            writeln!(pipe, "+ {group}")?;
        }
        self.shell = Some((child, pipe));
        Ok(())
    }
}
