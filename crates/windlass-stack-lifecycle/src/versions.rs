//! Versions of a stack that were deployed, kept in the asset store so that each can be deployed
//! again. Written by deployments only.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use windlass_ports::aws::{ActionShape, ListObjects, ObjectBody, PutObject, SignedCall, services};
use windlass_types::{Digest, Timestamp};

use crate::access::Access;
use crate::assets::{AssetStore, REPOSITORY};
use crate::fault::{Fault, FaultKind};

const DESCRIBE_IMAGES: ActionShape = ActionShape::new(&services::ECR, "DescribeImages");

/// A record holds a template of at most 1 MB, parameters and manifests.
const LONGEST_RECORD: u64 = 64 * 1024 * 1024;

/// The number of a version: `v000003`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Version(pub u32);

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "v{:06}", self.0)
    }
}

impl FromStr for Version {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Self, Fault> {
        let digits = text.strip_prefix('v').unwrap_or(text);
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        match digits.parse() {
            Ok(number) if is_number && number > 0 => Ok(Self(number)),
            _ => Err(Fault::new(
                FaultKind::Validation,
                "invalid_argument",
                format!("`{text}` is not a version; versions look like v000003"),
            )
            .with("argument", "targetVersion")),
        }
    }
}

impl Serialize for Version {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// Something a version needs in the asset store.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub enum Artifact {
    /// An object of the bucket.
    Object {
        /// Its key: `zips/{sha256}.zip`.
        key: String,
    },
    /// An image of the repository.
    Image {
        /// Its tag.
        tag: String,
    },
}

impl fmt::Display for Artifact {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Object { key } => formatter.write_str(key),
            Self::Image { tag } => write!(formatter, "{REPOSITORY}:{tag}"),
        }
    }
}

/// Everything it takes to deploy a version again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VersionRecord {
    /// Which one.
    pub version: Version,
    /// The template.
    pub template: Value,
    /// Parameters by name.
    pub parameters: BTreeMap<String, String>,
    /// Tags.
    #[serde(default)]
    pub tags: BTreeMap<String, String>,
    /// Capabilities.
    #[serde(default)]
    pub capabilities: Vec<String>,
    /// What it needs in the asset store, by name.
    pub artifacts: BTreeMap<String, Artifact>,
    /// Logical id → the resource of the config.
    #[serde(default)]
    pub names: BTreeMap<String, String>,
    /// Name of an output in the template → its name in the config.
    #[serde(default)]
    pub output_names: BTreeMap<String, String>,
    /// The manifests of synchronised buckets.
    #[serde(default)]
    pub bucket_sync: Value,
    /// The plan it was deployed by.
    pub plan_digest: Digest,
    /// The run that deployed it.
    pub run_id: String,
    /// When.
    pub created_at: Timestamp,
    /// What the config used that is no part of a version: `$File`, after hooks, …
    #[serde(default)]
    pub not_restored: Vec<String>,
}

fn prefix(stack: &str) -> String {
    format!("stacks/{stack}/")
}

/// The key of a version's record.
pub fn key(stack: &str, version: Version) -> String {
    format!("{}{version}.json", prefix(stack))
}

/// The version a key stands for, with its stack.
pub fn read_key(key: &str) -> Option<(&str, Version)> {
    let (stack, file) = key.strip_prefix("stacks/")?.rsplit_once('/')?;
    let version = file.strip_suffix(".json")?.strip_prefix('v')?;
    Some((stack, Version(version.parse().ok()?)))
}

/// The versions of a stack, oldest first; none where there is no store.
pub async fn list(access: &Access, store: &AssetStore, stack: &str) -> Result<Vec<Version>, Fault> {
    let request = ListObjects {
        bucket: store.bucket.clone(),
        prefix: prefix(stack),
        limit: None,
    };
    let entries = match access.cloud.list_objects(&access.target, request).await {
        Ok(entries) => entries,
        Err(failure) if failure.is_not_found() => return Ok(Vec::new()),
        Err(failure) => return Err(failure.into()),
    };
    let mut versions: Vec<Version> = entries
        .iter()
        .filter_map(|entry| read_key(&entry.key))
        .filter(|(name, _)| *name == stack)
        .map(|(_, version)| version)
        .collect();
    versions.sort();
    Ok(versions)
}

/// A version's record.
pub async fn read(
    access: &Access,
    store: &AssetStore,
    stack: &str,
    version: Version,
) -> Result<VersionRecord, Fault> {
    let key = key(stack, version);
    let found = access
        .cloud
        .get_object(&access.target, &store.bucket, &key, LONGEST_RECORD)
        .await;
    let found = match found {
        Ok(found) => found,
        Err(failure) if failure.is_not_found() => {
            return Err(Fault::new(
                FaultKind::NotFound,
                "version_not_found",
                format!("the stack {stack} has no version {version}"),
            )
            .with("kind", "version")
            .next("rollback with listVersions=true shows what can be deployed again"));
        }
        Err(failure) => return Err(failure.into()),
    };
    serde_json::from_slice(&found.bytes).map_err(|error| {
        Fault::new(
            FaultKind::Internal,
            "version_unreadable",
            format!("{key} in {} cannot be read: {error}", store.bucket),
        )
    })
}

/// Writes the version of a run: the next number, or the one an earlier try of the run took.
/// `record.version` is set here.
pub async fn write(
    access: &Access,
    store: &AssetStore,
    stack: &str,
    mut record: VersionRecord,
) -> Result<Version, Fault> {
    let newest = list(access, store, stack).await?.into_iter().next_back();
    if let Some(newest) = newest
        && read(access, store, stack, newest).await?.run_id == record.run_id
    {
        return Ok(newest);
    }
    record.version = Version(newest.map_or(0, |version| version.0) + 1);
    let bytes = serde_json::to_vec(&record).map_err(|error| {
        Fault::new(FaultKind::Internal, "version_unwritable", error.to_string())
    })?;
    let request = PutObject {
        content_type: Some("application/json".to_owned()),
        ..PutObject::new(
            &store.bucket,
            key(stack, record.version),
            ObjectBody::Bytes(bytes),
        )
    };
    access.cloud.put_object(&access.target, request).await?;
    Ok(record.version)
}

/// Which version is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// This one.
    Exactly(Version),
    /// The one this many steps before the newest.
    Back(usize),
}

/// The version a rollback goes to, from those there are, oldest first.
pub fn pick(stack: &str, versions: &[Version], wish: Wish) -> Result<Version, Fault> {
    let found = match wish {
        Wish::Exactly(version) => versions.iter().find(|found| **found == version),
        Wish::Back(steps) => versions
            .len()
            .checked_sub(steps + 1)
            .and_then(|index| versions.get(index)),
    };
    if let Some(version) = found {
        return Ok(*version);
    }
    let what = match wish {
        Wish::Exactly(version) => format!("no version {version}"),
        Wish::Back(steps) => format!("no version {steps} steps back"),
    };
    let there: Vec<String> = versions.iter().map(Version::to_string).collect();
    let message = if there.is_empty() {
        format!("the stack {stack} has {what}: none were kept")
    } else {
        format!(
            "the stack {stack} has {what}; there are {}",
            there.join(", ")
        )
    };
    Err(
        Fault::new(FaultKind::NotFound, "version_not_found", message)
            .with("kind", "version")
            .with("versions", there)
            .next("rollback with listVersions=true shows what can be deployed again"),
    )
}

/// Refuses to deploy a version whose artifacts are not all there any more; asked before anything
/// is changed.
pub async fn require_artifacts(
    access: &Access,
    store: &AssetStore,
    record: &VersionRecord,
) -> Result<(), Fault> {
    let mut missing = Vec::new();
    for (name, artifact) in &record.artifacts {
        if !is_present(access, store, artifact).await? {
            missing.push(format!("{name} ({artifact})"));
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    let message = format!(
        "version {} cannot be deployed again: {} is not in the asset store",
        record.version,
        missing.join(", ")
    );
    Err(
        Fault::new(FaultKind::RollbackFailed, "artifacts_missing", message)
            .with("missing", missing)
            .next(
                "choose another version, or deploy the config of that version from source control",
            ),
    )
}

async fn is_present(
    access: &Access,
    store: &AssetStore,
    artifact: &Artifact,
) -> Result<bool, Fault> {
    match artifact {
        Artifact::Object { key } => Ok(access
            .cloud
            .head_object(&access.target, &store.bucket, key)
            .await?
            .is_some()),
        Artifact::Image { tag } => {
            let input = json!({ "repositoryName": REPOSITORY, "imageIds": [{ "imageTag": tag }] });
            let call = SignedCall::new(DESCRIBE_IMAGES, input);
            match access.cloud.call(&access.target, call).await {
                Ok(_) => Ok(true),
                Err(failure) if failure.is_not_found() => Ok(false),
                Err(failure) => Err(failure.into()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_written_and_read() {
        assert_eq!(key("shop-dev", Version(3)), "stacks/shop-dev/v000003.json");
        assert_eq!(
            read_key("stacks/shop-dev/v000003.json"),
            Some(("shop-dev", Version(3)))
        );
        for bad in ["stacks/shop-dev/x.json", "zips/a.zip", "stacks/v1.json"] {
            assert_eq!(read_key(bad), None, "{bad}");
        }
        for (text, version) in [("v000012", 12), ("12", 12)] {
            assert_eq!(text.parse::<Version>().unwrap(), Version(version));
        }
        for bad in ["", "v", "v0", "latest", "v-1", "+3"] {
            assert_eq!(
                bad.parse::<Version>().unwrap_err().reason,
                "invalid_argument"
            );
        }
    }

    #[test]
    fn the_wanted_version_is_picked_or_the_choice_is_named() {
        let all = [Version(1), Version(2), Version(5)];
        let pick = |wish| pick("s", &all, wish).map_err(|fault| fault.message);
        assert_eq!(pick(Wish::Back(1)), Ok(Version(2)));
        assert_eq!(pick(Wish::Back(2)), Ok(Version(1)));
        assert_eq!(pick(Wish::Exactly(Version(5))), Ok(Version(5)));
        assert_eq!(
            pick(Wish::Back(3)),
            Err(
                "the stack s has no version 3 steps back; there are v000001, v000002, v000005"
                    .to_owned()
            )
        );
        assert!(pick(Wish::Exactly(Version(4))).is_err());
        assert!(super::pick("s", &[], Wish::Back(1)).is_err());
    }
}
