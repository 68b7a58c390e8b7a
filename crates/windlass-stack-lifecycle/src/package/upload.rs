//! What the asset store lacks, and sending exactly that. Contents are named by their digest, so
//! what is there never changes and nothing is sent twice.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use windlass_ports::aws::{AwsFailure, ObjectBody, ObjectStore, PutObject, Target};
use windlass_types::Digest;

use crate::package::workshop::Zip;

/// The bucket of the asset store of an account in a region.
pub fn asset_bucket(account: &str, region: &str) -> String {
    format!("windlass-assets-{account}-{region}")
}

/// The key of a zip in the asset store.
pub fn zip_key(digest: &Digest) -> String {
    format!("zips/{digest}.zip")
}

/// One file to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upload {
    /// The digest of its contents.
    pub digest: Digest,
    /// The key in the asset store.
    pub key: String,
    /// The file.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
}

/// What must be sent and what is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UploadPlan {
    /// What the store lacks, by digest.
    pub missing: Vec<Upload>,
    /// What it has.
    pub present: BTreeSet<Digest>,
}

/// Asks the asset store which zips it lacks. One with the right name and another size is a
/// broken upload of another process and is sent again.
pub async fn plan_upload(
    store: &dyn ObjectStore,
    target: &Target,
    bucket: &str,
    zips: &[Zip],
) -> Result<UploadPlan, AwsFailure> {
    let distinct: BTreeMap<Digest, &Zip> = zips.iter().map(|zip| (zip.digest, zip)).collect();
    let mut plan = UploadPlan::default();
    for (digest, zip) in distinct {
        let key = zip_key(&digest);
        let head = store.head_object(target, bucket, &key).await?;
        if head.is_some_and(|it| it.content_length == zip.bytes) {
            plan.present.insert(digest);
        } else {
            plan.missing.push(Upload {
                digest,
                key,
                path: zip.path.clone(),
                bytes: zip.bytes,
            });
        }
    }
    Ok(plan)
}

/// Sends what is missing; `sent` is called for each.
pub async fn upload(
    store: &dyn ObjectStore,
    target: &Target,
    bucket: &str,
    plan: &UploadPlan,
    sent: &(dyn Fn(&Upload) + Sync),
) -> Result<(), AwsFailure> {
    for it in &plan.missing {
        let mut request = PutObject::new(bucket, &it.key, ObjectBody::File(it.path.clone()));
        request.content_type = Some("application/zip".to_owned());
        store.put_object(target, request).await?;
        sent(it);
    }
    Ok(())
}
