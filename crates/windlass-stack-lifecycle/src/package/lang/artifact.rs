//! Packages that were built elsewhere: a zip as it is, a file or a folder zipped.

use fs_err as fs;
use windlass_stack_config::model::packaging::CustomArtifact;
use windlass_types::{Digest, Problem};

use crate::package::cache::Cache;
use crate::package::failure::{failed, with_hint};
use crate::package::stage::Staged;
use crate::package::tree::{self, Links};
use crate::package::workshop::{Workshop, Zip};
use crate::package::zip;

/// The package's zip.
pub(crate) fn zip(
    shop: &Workshop<'_>,
    workload: &str,
    artifact: &CustomArtifact,
) -> Result<Zip, Problem> {
    let written = &artifact.package_path;
    let place = shop.inside(workload, written)?;
    if place.is_file()
        && place
            .extension()
            .is_some_and(|it| it.eq_ignore_ascii_case("zip"))
    {
        return as_it_is(shop, workload, written, &place);
    }
    let mut staged = Staged::default();
    if place.is_dir() {
        let wanted = |path: &str, _| !tree::is_never_packaged(path);
        for found in shop.walk(workload, &place, Links::Followed, &wanted)? {
            staged.add_found(found.path.clone(), found);
        }
    } else {
        let name = place
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let found = tree::file(name.clone(), &place).map_err(|it| failed(workload, it))?;
        staged.add_found(name, found);
    }
    if staged.inputs.is_empty() {
        return Err(failed(workload, format!("{written} is empty")));
    }
    shop.pack(workload, &staged, None)
}

fn as_it_is(
    shop: &Workshop<'_>,
    workload: &str,
    written: &str,
    place: &std::path::Path,
) -> Result<Zip, Problem> {
    let length = fs::metadata(place)
        .map_err(|it| failed(workload, it))?
        .len();
    if length > shop.limits.zipped {
        let cause = format!(
            "{written} has {length} bytes, more than {}",
            shop.limits.zipped
        );
        return Err(with_hint(
            failed(workload, cause),
            "make the package smaller",
        ));
    }
    let bytes = fs::read(place).map_err(|it| failed(workload, it))?;
    let Some(unzipped) = zip::unzipped_size(&bytes) else {
        let hint = "create the zip again; Lambda would refuse this one";
        return Err(with_hint(
            failed(workload, format!("{written} is not a zip")),
            hint,
        ));
    };
    shop.check_size(workload, unzipped, None)?;
    let digest = Digest::of(&bytes);
    let path = Cache(shop.cache)
        .keep_zip(&digest, &bytes)
        .map_err(|it| failed(workload, it))?;
    (shop.progress)(workload, &format!("taken as it is: {}", digest.short()));
    Ok(Zip {
        digest,
        path,
        bytes: length,
        unzipped,
        handler: None,
        was_cached: false,
    })
}
