//! Tests of what is refused before anything is started, with features taken away.

use std::{ffi::OsString, path::PathBuf};

use windlass_ports::sandbox::{
    Backend, Confinement, HostRule, Network, Sandbox as _, SandboxFeatures, SandboxRefusal,
    SandboxRequest,
};

use super::*;

fn machine(
    landlock: Option<u32>,
    seccomp: bool,
    bubblewrap: bool,
    namespaces: bool,
) -> KernelSandbox {
    KernelSandbox::with_features(
        "/usr/bin/windlass".as_ref(),
        SandboxFeatures {
            kernel: "6.1.0".to_owned(),
            landlock,
            seccomp,
            namespaces: match namespaces {
                true => Ok(()),
                false => Err("they cannot be created (Operation not permitted)".to_owned()),
            },
            bubblewrap: match bubblewrap {
                true => Ok("/usr/bin/bwrap".into()),
                false => Err("it is not installed".to_owned()),
            },
        },
    )
}

#[test]
fn what_is_missing_is_named_and_never_replaced_by_less() {
    let hosts = || Network::Hosts(vec![HostRule::parse("example.org").unwrap()]);
    let mut table = String::new();
    for (landlock, seccomp, bubblewrap, namespaces) in [
        (Some(7), true, true, true),
        (Some(7), true, false, true),
        (Some(1), true, false, true),
        (Some(7), true, false, false),
        (Some(5), true, false, false),
        (None, true, true, true),
        (Some(7), false, true, true),
    ] {
        let sandbox = machine(landlock, seccomp, bubblewrap, namespaces);
        let version = landlock.map_or("-".to_owned(), |version| version.to_string());
        let mark = |has: bool, name| if has { name } else { "-" };
        table.push_str(&format!(
            "landlock {version}, {}, {}, {}\n",
            mark(seccomp, "seccomp"),
            mark(bubblewrap, "bubblewrap"),
            mark(namespaces, "namespaces")
        ));
        for (name, network) in [
            ("off", Network::Off),
            ("hosts", hosts()),
            ("on", Network::On),
        ] {
            let found = match sandbox.backend(&network) {
                Ok(backend) => backend.to_string(),
                Err(refusal) => refusal.to_string(),
            };
            table.push_str(&format!("  {name:<5} {found}\n"));
        }
    }
    insta::assert_snapshot!(table, @r#"
        landlock 7, seccomp, bubblewrap, namespaces
          off   bubblewrap + Landlock + seccomp
          hosts bubblewrap + Landlock + seccomp
          on    bubblewrap + Landlock + seccomp
        landlock 7, seccomp, -, namespaces
          off   namespaces + Landlock + seccomp
          hosts namespaces + Landlock + seccomp
          on    namespaces + Landlock + seccomp
        landlock 1, seccomp, -, namespaces
          off   namespaces + Landlock + seccomp
          hosts namespaces + Landlock + seccomp
          on    namespaces + Landlock + seccomp
        landlock 7, seccomp, -, -
          off   Landlock + seccomp
          hosts the sandbox needs namespaces, which this machine does not offer: namespaces: they cannot be created (Operation not permitted); bubblewrap: it is not installed
          on    Landlock + seccomp
        landlock 5, seccomp, -, -
          off   the sandbox needs Landlock version 6, which this machine does not offer: Landlock has version 5; namespaces: they cannot be created (Operation not permitted); bubblewrap: it is not installed
          hosts the sandbox needs namespaces, which this machine does not offer: namespaces: they cannot be created (Operation not permitted); bubblewrap: it is not installed
          on    the sandbox needs Landlock version 6, which this machine does not offer: Landlock has version 5; namespaces: they cannot be created (Operation not permitted); bubblewrap: it is not installed
        landlock -, seccomp, bubblewrap, namespaces
          off   the sandbox needs Landlock version 1, which this machine does not offer: the kernel 6.1.0 has it switched off or too old
          hosts the sandbox needs Landlock version 1, which this machine does not offer: the kernel 6.1.0 has it switched off or too old
          on    the sandbox needs Landlock version 1, which this machine does not offer: the kernel 6.1.0 has it switched off or too old
        landlock 7, -, bubblewrap, namespaces
          off   the sandbox needs seccomp filters, which this machine does not offer: the kernel has none, or a container refuses them
          hosts the sandbox needs seccomp filters, which this machine does not offer: the kernel has none, or a container refuses them
          on    the sandbox needs seccomp filters, which this machine does not offer: the kernel has none, or a container refuses them
        "#);
}

#[test]
fn every_refusal_has_a_remedy_and_prepares_nothing() {
    let confinement = Confinement::read_only("/".into(), None);
    for sandbox in [
        machine(None, true, true, true),
        machine(Some(7), false, true, true),
        machine(Some(5), true, false, false),
    ] {
        let request = SandboxRequest {
            program: "true".as_ref(),
            arguments: &[],
            environment: &[],
            confinement: &confinement,
        };
        let Err(SandboxRefusal::Missing { remedy, .. }) = sandbox.prepare(request) else {
            panic!("it was not refused");
        };
        assert!(remedy.len() > 20);
    }
}

#[test]
fn confinements_that_cannot_be_enforced_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let root = fs_err::canonicalize(folder.path()).unwrap();
    fs_err::write(root.join("file"), "").unwrap();
    fs_err::create_dir(root.join("linked")).unwrap();
    std::os::unix::fs::symlink("/etc", root.join("linked/.windlass")).unwrap();
    let sandbox = machine(Some(7), true, false, true);
    let refused = |write: PathBuf| {
        let confinement = Confinement::read_only("/".into(), None).writing([write], None);
        let request = SandboxRequest {
            program: "true".as_ref(),
            arguments: &[],
            environment: &[],
            confinement: &confinement,
        };
        match sandbox.prepare(request) {
            Ok(_) => "prepared".to_owned(),
            Err(refusal) => refusal.to_string().replace(root.to_str().unwrap(), "ROOT"),
        }
    };
    let mut table = String::new();
    for path in [
        "/",
        "/proc",
        "/etc",
        "relative",
        "ROOT/file",
        "ROOT/missing",
        "ROOT/linked",
        "ROOT",
    ] {
        let found = refused(path.replace("ROOT", root.to_str().unwrap()).into());
        table.push_str(&format!("{path}: {found}\n"));
    }
    insta::assert_snapshot!(table, @r#"
        /: /: the system itself cannot be a write root
        /proc: /proc: the system itself cannot be a write root
        /etc: /etc: the system itself cannot be a write root
        relative: relative: it is not absolute
        ROOT/file: ROOT/file: only a folder can be a write root
        ROOT/missing: ROOT/missing: failed to canonicalize path `ROOT/missing`: No such file or directory (os error 2)
        ROOT/linked: ROOT/linked/.windlass: it is a symbolic link, which the program could replace; make it a file or a folder, or choose a smaller write root
        ROOT: prepared
        "#);
}

#[test]
fn a_program_starts_where_it_can_see() {
    let folder = tempfile::tempdir().unwrap();
    let start = |read: Option<&Path>| {
        let mut confinement = Confinement::read_only(folder.path().to_owned(), None);
        confinement.read.extend(read.map(Path::to_path_buf));
        let request = SandboxRequest {
            program: "true".as_ref(),
            arguments: &[],
            environment: &[],
            confinement: &confinement,
        };
        machine(Some(7), true, false, true).prepare(request)
    };
    // `/tmp` is private.
    assert!(matches!(
        start(None),
        Err(SandboxRefusal::Unenforceable { .. })
    ));
    assert!(start(Some(folder.path())).is_ok());
}

#[test]
fn the_command_starts_the_outer_stage_with_a_clean_environment() {
    let sandbox = machine(Some(7), true, false, true);
    let confinement = Confinement::read_only("/".into(), None);
    let variable = |name: &str| (OsString::from(name), OsString::from("value"));
    let prepared = sandbox
        .prepare(SandboxRequest {
            program: "echo".as_ref(),
            arguments: &["--".into(), "a b".into()],
            environment: &[variable("HOME"), variable("AWS_SECRET_ACCESS_KEY")],
            confinement: &confinement,
        })
        .unwrap();
    assert_eq!(prepared.backend, Backend::Namespaces);
    assert_eq!(
        prepared.arguments[..3],
        ["internal", "sandbox-stage", "outer"]
    );
    assert_eq!(prepared.arguments[4..], ["--", "echo", "--", "a b"]);
    let names: Vec<_> = prepared.environment.iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["HOME", "TMPDIR"]);
}
