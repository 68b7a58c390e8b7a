//! Example files inside the binary, so that the tour needs no checkout.
//!
//! Not here: which files (one module per example) and what the tour does with them.

use std::path::Path;

use windlass_types::Problem;

/// One file of an example.
pub(crate) struct Sample {
    /// Below the example, with `/`.
    pub(crate) path: &'static str,
    pub(crate) text: &'static str,
    pub(crate) executable: bool,
}

/// The files of a folder below `examples/`, by their paths.
macro_rules! samples {
    ($folder:literal: $($path:literal $(, $executable:ident)?;)*) => {
        &[$($crate::sample::Sample {
            path: $path,
            text: include_str!(concat!("../../../examples/", $folder, "/", $path)),
            executable: samples!(@ $($executable)?),
        }),*]
    };
    (@ executable) => { true };
    (@) => { false };
}
pub(crate) use samples;

/// Writes files into a directory that does not exist yet.
pub(crate) fn unpack(samples: &[Sample], directory: &Path) -> Result<(), Problem> {
    let failed = |error: std::io::Error| Problem::internal("tour: sample files", error);
    for sample in samples {
        let path = directory.join(sample.path);
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
    use crate::{sample_launch, sample_pack};

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
    fn the_binary_holds_the_examples_as_they_are() {
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
        for (folder, samples) in [
            ("pack", sample_pack::SAMPLES),
            ("launch/product", sample_launch::PRODUCT),
            ("launch/site", sample_launch::SITE),
        ] {
            let place = tempfile::tempdir().unwrap();
            unpack(samples, place.path()).unwrap();
            assert_eq!(
                files(place.path()),
                files(&examples.join(folder)),
                "{folder}"
            );
        }
    }
}
