//! The sample repository of `examples/pack`, inside the binary, so that the tour needs no checkout.
//!
//! Not here: what the tour does with it.

use std::path::Path;

use windlass_types::Problem;

struct Sample {
    /// Below the repository, with `/`.
    path: &'static str,
    text: &'static str,
    executable: bool,
}

macro_rules! samples {
    ($($path:literal $(, $executable:ident)?;)*) => {
        &[$(Sample {
            path: $path,
            text: include_str!(concat!("../../../../examples/pack/", $path)),
            executable: samples!(@ $($executable)?),
        }),*]
    };
    (@ executable) => { true };
    (@) => { false };
}

const SAMPLES: &[Sample] = samples! {
    "agentpack.yaml";
    "modules/claude-commands/review.md";
    "modules/instructions/base/AGENTS.md";
    "modules/instructions/security/AGENTS.md";
    "modules/mcp/windlass.yaml";
    "modules/prompts/draft-pr.md";
    "modules/skills/release-notes/SKILL.md";
    "modules/skills/release-notes/scripts/commits.sh", executable;
    "modules/subagents/migration-reviewer.md";
};

/// Writes the sample repository into a directory that does not exist yet.
pub(super) fn unpack(repository: &Path) -> Result<(), Problem> {
    let failed = |error: std::io::Error| Problem::internal("tour: sample repository", error);
    for sample in SAMPLES {
        let path = repository.join(sample.path);
        if let Some(parent) = path.parent() {
            fs_err::create_dir_all(parent).map_err(failed)?;
        }
        fs_err::write(&path, sample.text).map_err(failed)?;
        if sample.executable {
            make_executable(&path).map_err(failed)?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn make_executable(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs_err::set_permissions(path, std::fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn make_executable(_: &Path) -> std::io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, os::unix::fs::PermissionsExt as _};

    use super::*;

    /// Path, text and executable bit of every file below a directory.
    fn files(root: &Path) -> BTreeMap<String, (String, bool)> {
        let mut found = BTreeMap::new();
        let mut open = vec![root.to_owned()];
        while let Some(directory) = open.pop() {
            for entry in fs_err::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    open.push(path);
                    continue;
                }
                let name = path.strip_prefix(root).unwrap().display().to_string();
                let mode = fs_err::metadata(&path).unwrap().permissions().mode();
                let text = fs_err::read_to_string(&path).unwrap();
                found.insert(name, (text, mode & 0o100 != 0));
            }
        }
        found
    }

    #[test]
    fn the_binary_holds_the_sample_repository_as_it_is() {
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/pack");
        let place = tempfile::tempdir().unwrap();
        unpack(place.path()).unwrap();
        assert_eq!(files(place.path()), files(&examples));
    }
}
