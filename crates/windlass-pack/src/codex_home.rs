//! Whether Codex's home is another one than at the last deployment.
//!
//! `CODEX_HOME` decides where Codex's files go, and it may be set in one shell and not in the next.
//! A deploy would then remove every file in the old home and write them in the new one, so that is
//! said in every plan and confirmed by the user.

use std::path::{Path, PathBuf};

use serde::Serialize;
use windlass_pack_deploy::{Owned, render::Places};
use windlass_pack_model::{Manifest, RootScope, Target, TargetRoot, fault};
use windlass_types::Problem;

/// The directories of Codex's home that are roots of their own.
const BELOW: [&str; 3] = ["prompts", "skills", "agents"];

/// A home that a deploy would move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct MovedHome {
    /// Where the last deployment wrote.
    from: PathBuf,
    /// Where this one would.
    to: PathBuf,
    /// Whether `CODEX_HOME` names the new one.
    by_environment: bool,
    /// Whether both are one directory under two names.
    same_directory: bool,
}

impl MovedHome {
    /// The move a deploy to these roots would be.
    pub(crate) fn find(
        manifest: &Manifest,
        places: &Places,
        roots: &[TargetRoot],
        owned: &Owned,
    ) -> Option<Self> {
        let config = manifest.targets.get(&Target::Codex)?;
        let is_here =
            |root: &TargetRoot| root.target == Target::Codex && root.scope == RootScope::User;
        if !roots.iter().any(is_here) {
            return None;
        }
        let expanded = |path: &Path| match path.to_str() {
            Some(text) => places.expand(text),
            None => path.to_owned(),
        };
        let environment = places
            .codex_home
            .as_deref()
            .filter(|path| !path.as_os_str().is_empty())
            .map(expanded);
        let option = config.text("codex_home").map(|text| places.expand(text));
        let to = environment
            .clone()
            .or_else(|| option.clone())
            .unwrap_or_else(|| places.home_dir.join(".codex"));
        // The manifest says so, too: nothing about it is silent.
        if option.as_ref() == Some(&to) {
            return None;
        }
        let shared_skills = places.home_dir.join(".agents/skills");
        let from = owned
            .roots
            .iter()
            .filter(|root| root.target == Target::Codex && root.scope == Some(RootScope::User))
            .filter(|root| !(root.files.is_empty() && root.keys.is_empty()))
            .filter(|root| !root.path.starts_with(&to) && root.path != shared_skills)
            .map(
                |root| match root.path.file_name().and_then(|name| name.to_str()) {
                    Some(name) if BELOW.contains(&name) => root.path.parent().unwrap_or(&root.path),
                    _ => &root.path,
                },
            )
            .min()?
            .to_owned();
        let same_directory = match (from.canonicalize(), to.canonicalize()) {
            (Ok(from), Ok(to)) => from == to,
            _ => false,
        };
        Some(Self {
            from,
            to,
            by_environment: environment.is_some(),
            same_directory,
        })
    }

    /// What plans and status say.
    pub(crate) fn warning(&self) -> String {
        let (from, to) = (self.from.display(), self.to.display());
        let why = match self.by_environment {
            true => "CODEX_HOME",
            false => "CODEX_HOME, which is not set now,",
        };
        match self.same_directory {
            true => format!(
                "{why} names {to}, which is the same directory as {from}, where Codex's files were deployed: a deploy is refused, because it would remove them. Use {from}"
            ),
            false => format!(
                "{why} moves Codex's home from {from} to {to}: a deploy removes the deployed files in {from} and writes them to {to}"
            ),
        }
    }

    /// Refuses the move unless the user has seen it.
    pub(crate) fn agreed(&self, seen: bool) -> Result<(), Problem> {
        if seen && !self.same_directory {
            return Ok(());
        }
        let (from, to) = (
            self.from.display().to_string(),
            self.to.display().to_string(),
        );
        let undo = match self.by_environment {
            true => "unset CODEX_HOME".to_owned(),
            false => format!("set CODEX_HOME={from}"),
        };
        let message = match self.same_directory {
            true => self.warning(),
            false => format!(
                "{}; nothing was written. To keep the old home, {undo}. To move, confirm the plan in a terminal (deploy --apply without --yes), or set codex_home: {to} of the target codex in agentpack.yaml",
                self.warning()
            ),
        };
        Err(fault::unexpected(
            "codex_home_moved",
            &["fix_codex_home", "set_codex_home_option", "retry_command"],
            message,
        )
        .with("from", from)
        .with("to", to))
    }
}

#[cfg(test)]
mod tests {
    use windlass_pack_deploy::{OwnedFile, OwnedRoot, OwnedSource};
    use windlass_pack_model::{RelPath, parse_manifest};
    use windlass_types::Digest;

    use super::*;

    const HOME: &str = "/home/ada";

    fn moved(option: &str, variable: Option<&str>, owned: &[&str]) -> Option<MovedHome> {
        let text = format!(
            "version: 1\nprofiles: {{default: {{}}}}\ntargets:\n  codex: {{mode: files, scope: user, options: {{{option}}}}}\nmodules: []\n"
        );
        let manifest = parse_manifest(&text).unwrap().manifest;
        let places = Places {
            home_dir: HOME.into(),
            codex_home: variable.map(PathBuf::from),
        };
        let root = TargetRoot {
            target: Target::Codex,
            path: "/any".into(),
            scan_extras: false,
            scope: RootScope::User,
        };
        let file = OwnedFile {
            path: RelPath::new("a.md").unwrap(),
            digest: Digest::of(b""),
            executable: false,
            module_ids: Vec::new(),
        };
        let roots = owned.iter().map(|path| OwnedRoot {
            scope: Some(RootScope::User),
            source: OwnedSource::Manifest { legacy: None },
            files: vec![file.clone()],
            ..OwnedRoot::nothing(Target::Codex, PathBuf::from(path))
        });
        let owned = Owned {
            roots: roots.collect(),
            ..Owned::default()
        };
        MovedHome::find(&manifest, &places, &[root], &owned)
    }

    #[test]
    fn a_home_moves_when_the_environment_and_the_last_deployment_disagree() {
        let default = &["/home/ada/.codex", "/home/ada/.codex/prompts"][..];
        for (option, variable, owned, expected) in [
            ("", None, default, None),
            ("", Some(""), default, None),
            ("", Some("/home/ada/.codex"), default, None),
            ("", Some("~/.codex/"), default, None),
            ("", Some("/x"), &[][..], None),
            ("", Some("/x"), default, Some("/home/ada/.codex -> /x")),
            (
                "",
                Some("~/x"),
                &["/home/ada/.codex/prompts"],
                Some("/home/ada/.codex -> /home/ada/x"),
            ),
            (
                "",
                None,
                &["/x", "/x/skills"],
                Some("/x -> /home/ada/.codex"),
            ),
            ("codex_home: /x", Some("/x"), default, None),
            ("codex_home: /x", None, default, None),
            (
                "codex_home: /y",
                Some("/x"),
                default,
                Some("/home/ada/.codex -> /x"),
            ),
            ("", Some("/x"), &["/home/ada/.agents/skills"], None),
        ] {
            let found = moved(option, variable, owned)
                .map(|moved| format!("{} -> {}", moved.from.display(), moved.to.display()));
            assert_eq!(
                found.as_deref(),
                expected,
                "{option} {variable:?} {owned:?}"
            );
        }
    }

    #[test]
    fn a_move_is_agreed_by_those_who_have_seen_it() {
        let moved = moved("", Some("/x"), &["/home/ada/.codex"]).unwrap();
        assert!(moved.agreed(true).is_ok());
        let problem = moved.agreed(false).unwrap_err();
        assert_eq!(problem.details()["reason_code"], "codex_home_moved");
        insta::assert_snapshot!(problem.message(), @"CODEX_HOME moves Codex's home from /home/ada/.codex to /x: a deploy removes the deployed files in /home/ada/.codex and writes them to /x; nothing was written. To keep the old home, unset CODEX_HOME. To move, confirm the plan in a terminal (deploy --apply without --yes), or set codex_home: /x of the target codex in agentpack.yaml");
        let same = MovedHome {
            same_directory: true,
            ..moved
        };
        assert!(same.agreed(true).is_err());
    }
}
