//! Where a manifest's files are: the bucket and the distribution of the deployed stack.

use windlass_types::{Problem, code};

use crate::sync::manifest::Manifest;
use crate::{Access, Fault};

/// A bucket, and the distribution in front of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The bucket's name.
    pub bucket: String,
    /// The distribution whose cached contents are dropped afterwards.
    pub distribution: Option<String>,
}

/// Finds the bucket of a resource in a stack, and its distribution.
pub async fn place(
    access: &Access,
    stack: &str,
    resource: &str,
    manifest: &Manifest,
) -> Result<Place, Problem> {
    let resources = access
        .cloud
        .stack_resources(&access.target, stack)
        .await
        .map_err(Fault::problem)?;
    let find = |id: &str| {
        let mut resources = resources.iter();
        let found = resources.find(|resource| resource.logical_resource_id == id);
        found
            .and_then(|resource| resource.physical_resource_id.clone())
            .ok_or_else(|| {
                let message = format!("the stack {stack} has no {id} for \"{resource}\"");
                Problem::new(&code::NOT_FOUND, message)
                    .with("reason", "not_found")
                    .with("kind", "resource")
                    .with("resource", resource)
                    .with("logicalId", id)
            })
    };
    Ok(Place {
        bucket: find(&manifest.bucket_id)?,
        distribution: manifest.distribution_id.as_deref().map(find).transpose()?,
    })
}
