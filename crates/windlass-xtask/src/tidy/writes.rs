//! Files are written through windlass-files only: one place opens directories, refuses links and
//! replaces files whole. The exceptions are directories that Windlass itself made and owns, and
//! are listed with their reason. Tests and the tools of the workspace write what they like.

use super::{Crate, SourceFile, Violation, shipped_layer};

const PLACE: &str = "crates/windlass-files/";

/// Calls that write by path.
const WRITES: [&str; 17] = [
    "fs::write(",
    "fs_err::write(",
    "File::create(",
    "File::create_new(",
    "OpenOptions::new(",
    "DirBuilder::new(",
    "fs::create_dir",
    "fs_err::create_dir",
    "fs::rename(",
    "fs_err::rename(",
    "fs::remove_",
    "fs_err::remove_",
    "fs::copy(",
    "fs_err::copy(",
    "set_permissions(",
    "hard_link(",
    "unix::fs::symlink(",
];

/// Where a path is known to be Windlass's own, and why.
const EXCEPTIONS: [(&str, &str); 21] = [
    (
        "crates/windlass-process/src/workplace.rs",
        "new directories of its own, and what killed owners left of them",
    ),
    (
        "crates/windlass-store/",
        "the store's own files in the home",
    ),
    (
        "crates/windlass/src/key_file.rs",
        "keys in the home, made by linking",
    ),
    (
        "crates/windlass-system/src/anchor.rs",
        "the file an operator named in the settings",
    ),
    (
        "crates/windlass-git/src/change.rs",
        "repositories in the home",
    ),
    (
        "crates/windlass-git/src/export.rs",
        "a new directory of its own, filled and renamed",
    ),
    (
        "crates/windlass-git/src/foreign.rs",
        "repositories in the home",
    ),
    (
        "crates/windlass-git/src/object.rs",
        "a temporary directory of its own",
    ),
    (
        "crates/windlass-git/src/transfer.rs",
        "checkouts in the pack home",
    ),
    (
        "crates/windlass-launch/src/ops/prepare.rs",
        "a run's folder in the home",
    ),
    (
        "crates/windlass-launch/src/run/folder.rs",
        "a run's folder in the home",
    ),
    (
        "crates/windlass-launch/src/run/site.rs",
        "a run's folder in the home",
    ),
    (
        "crates/windlass-pack-author/src/checkouts.rs",
        "checkouts in the pack home",
    ),
    (
        "crates/windlass-pack-author/src/record.rs",
        "the pack home's log",
    ),
    (
        "crates/windlass-pack-deploy/src/state/",
        "the pack home; destinations are changed by exact.rs",
    ),
    (
        "crates/windlass-stack-config/src/evaluate/mod.rs",
        "a temporary directory of its own",
    ),
    (
        "crates/windlass-stack-dev/src/database/postgres.rs",
        "the mode of a folder it has just made",
    ),
    (
        "crates/windlass-stack-dev/src/ports.rs",
        "locks of ports in the temporary directory",
    ),
    (
        "crates/windlass-stack-lifecycle/src/package/",
        "temporary directories of its own",
    ),
    (
        "crates/windlass-toolchain/src/",
        "folders of a build in the home",
    ),
    (
        "crates/windlass-tour/src/",
        "a temporary directory of its own",
    ),
];

/// Looks at the shipped sources.
pub fn check(crates: &[Crate], files: &[SourceFile]) -> Vec<Violation> {
    check_with(crates, files, &EXCEPTIONS)
}

fn check_with(
    crates: &[Crate],
    files: &[SourceFile],
    exceptions: &[(&str, &str)],
) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut used = vec![false; exceptions.len()];
    for file in files {
        let Some(text) = &file.text else { continue };
        let is_shipped = shipped_layer(crates, &file.path).is_some_and(|layer| layer != "tool");
        let is_test = file.path.ends_with("/tests.rs") || file.path.ends_with("/sample.rs");
        if !is_shipped || is_test || file.path.starts_with(PLACE) {
            continue;
        }
        let exception = exceptions
            .iter()
            .position(|(place, _)| file.path.starts_with(place));
        // Tests of a file stand at its end.
        let shipped = text.lines().take_while(|line| *line != "#[cfg(test)]");
        for (index, line) in shipped.enumerate() {
            let code = line.trim_start();
            if code.starts_with("//") || !WRITES.iter().any(|call| code.contains(call)) {
                continue;
            }
            match exception {
                Some(exception) => used[exception] = true,
                None => violations.push(Violation::new(
                    format!("{}:{}", file.path, index + 1),
                    "write through `windlass_files`, which follows no link",
                )),
            }
        }
    }
    for ((place, _), used) in exceptions.iter().zip(used) {
        if !used {
            violations.push(Violation::new(
                *place,
                "writes nothing by path any more; remove its exception",
            ));
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::super::sample::{file, messages, own};
    use super::*;

    #[test]
    fn a_write_by_path_is_found_unless_it_has_a_reason() {
        let crates = [own("windlass-a", "domain"), own("windlass-kit", "tool")];
        let write = "fn a() {}\nfs_err::write(path, text)?;\n";
        let files = [
            file("crates/windlass-a/src/a.rs", write),
            file("crates/windlass-a/src/own.rs", write),
            file("crates/windlass-a/src/a_tests.rs", write),
            file(
                "crates/windlass-a/src/b.rs",
                &format!("#[cfg(test)]\n{write}"),
            ),
            file(
                "crates/windlass-a/src/c.rs",
                "// fs_err::write( is not used\n",
            ),
            file("crates/windlass-a/tests/d.rs", write),
            file("crates/windlass-kit/src/e.rs", write),
        ];
        let exceptions = [
            ("crates/windlass-a/src/own.rs", "its own"),
            ("crates/windlass-a/src/old.rs", "gone"),
        ];
        assert_eq!(
            messages(&check_with(&crates, &files, &exceptions)),
            [
                "crates/windlass-a/src/a.rs:2: write through `windlass_files`, which follows no link",
                "crates/windlass-a/src/old.rs: writes nothing by path any more; remove its exception",
            ]
        );
    }
}
