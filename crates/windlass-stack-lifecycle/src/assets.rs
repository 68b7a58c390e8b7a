//! The asset store of an account and region: one bucket and one image repository, outside every
//! stack. Made by the first deployment, never by a preview.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::json;
use windlass_ports::aws::{
    ActionShape, BucketState, CreateBucket, Encryption, ObjectBody, PutObject, SignedCall,
    TemplateSource, Versioning, services,
};

use crate::access::Access;
use crate::fault::{Fault, FaultKind};
use crate::proposal::{INLINE_LIMIT, Proposal, TEMPLATE_LIMIT};

/// The repository of images.
pub const REPOSITORY: &str = "windlass-assets";

const CREATE_REPOSITORY: ActionShape = ActionShape::new(&services::ECR, "CreateRepository");

/// Where artifacts of an account and region are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AssetStore {
    /// The bucket.
    pub bucket: String,
    /// Its region.
    pub region: String,
    /// The account.
    pub account: String,
}

/// Whether the store can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StoreState {
    /// It can.
    Ready,
    /// There is none yet.
    Absent,
}

impl AssetStore {
    /// The store of an account and region, whether it exists or not.
    pub fn new(account: &str, region: &str) -> Self {
        Self {
            bucket: format!("windlass-assets-{account}-{region}"),
            region: region.to_owned(),
            account: account.to_owned(),
        }
    }

    /// The store of the caller.
    pub async fn of_caller(access: &Access) -> Result<Self, Fault> {
        let caller = access.cloud.caller(&access.target).await?;
        Ok(Self::new(&caller.account, &caller.region))
    }

    /// Whether it exists; a bucket of that name in another account is refused.
    pub async fn state(&self, access: &Access) -> Result<StoreState, Fault> {
        let state = access
            .cloud
            .bucket_state(&access.target, &self.bucket)
            .await?;
        match state {
            BucketState::Usable => Ok(StoreState::Ready),
            BucketState::Absent => Ok(StoreState::Absent),
            BucketState::Refused => {
                Err(self.unusable("it is not accessible with these credentials"))
            }
            BucketState::OtherRegion(region) => Err(self.unusable(&format!(
                "it is in {}",
                region.as_deref().unwrap_or("another region")
            ))),
        }
    }

    fn unusable(&self, why: &str) -> Fault {
        let message = format!("the asset bucket {} cannot be used: {why}", self.bucket);
        Fault::new(FaultKind::Validation, "asset_store_unusable", message)
            .with("bucket", self.bucket.as_str())
            .next("check who owns the bucket and what the credentials may do with it")
    }

    /// Makes the bucket, or brings one that was half made to its settings.
    pub async fn ensure_bucket(&self, access: &Access) -> Result<(), Fault> {
        self.state(access).await?;
        let request = CreateBucket {
            bucket: self.bucket.clone(),
            // Keys are digests or version numbers: nothing is ever overwritten with another text.
            versioning: Versioning::Off,
            encryption: Encryption::S3Managed,
            tags: BTreeMap::from([("windlass:assets".to_owned(), self.region.clone())]),
        };
        access.cloud.create_bucket(&access.target, request).await?;
        Ok(())
    }

    /// Makes the image repository where there is none.
    pub async fn ensure_repository(&self, access: &Access) -> Result<(), Fault> {
        let input = json!({
            "repositoryName": REPOSITORY,
            "imageTagMutability": "IMMUTABLE",
            "tags": [{ "Key": "windlass:assets", "Value": self.region }],
        });
        let call = SignedCall::new(CREATE_REPOSITORY, input);
        match access.cloud.call(&access.target, call).await {
            Ok(_) => Ok(()),
            Err(failure) if failure.is_already_exists() => Ok(()),
            Err(failure) => Err(failure.into()),
        }
    }

    /// The address CloudFormation reads an object from.
    pub fn url(&self, key: &str) -> String {
        let suffix = if self.region.starts_with("cn-") {
            ".cn"
        } else {
            ""
        };
        format!(
            "https://{}.s3.{}.amazonaws.com{suffix}/{key}",
            self.bucket, self.region
        )
    }

    /// Puts bytes under a key that is their digest, unless they are there. Says whether they
    /// were uploaded.
    pub async fn put_once(
        &self,
        access: &Access,
        key: &str,
        body: ObjectBody,
        content_type: Option<&str>,
    ) -> Result<bool, Fault> {
        let found = access
            .cloud
            .head_object(&access.target, &self.bucket, key)
            .await?;
        if found.is_some() {
            return Ok(false);
        }
        let request = PutObject {
            content_type: content_type.map(str::to_owned),
            ..PutObject::new(&self.bucket, key, body)
        };
        access.cloud.put_object(&access.target, request).await?;
        Ok(true)
    }
}

/// Where a template of this size may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplatePlace {
    /// CloudFormation can read it.
    At(TemplateSource),
    /// It is too large to be sent and there is no store to put it into.
    Nowhere,
}

/// Finds a place for a template: inline, else in the store under its digest.
pub async fn place_template(
    access: &Access,
    store: &AssetStore,
    proposal: &Proposal,
) -> Result<TemplatePlace, Fault> {
    let text = proposal.template_text();
    if text.len() <= INLINE_LIMIT {
        return Ok(TemplatePlace::At(TemplateSource::Body(text)));
    }
    if text.len() > TEMPLATE_LIMIT {
        let message = format!(
            "the template of {} has {} bytes; CloudFormation takes at most {TEMPLATE_LIMIT}",
            proposal.stack_name,
            text.len()
        );
        return Err(
            Fault::new(FaultKind::Validation, "template_too_large", message)
                .with("size", text.len())
                .with("limit", TEMPLATE_LIMIT)
                .next("split the project into two stacks"),
        );
    }
    if store.state(access).await? == StoreState::Absent {
        return Ok(TemplatePlace::Nowhere);
    }
    let key = format!("templates/{}.json", proposal.template_digest());
    let body = ObjectBody::Bytes(text.into_bytes());
    store
        .put_once(access, &key, body, Some("application/json"))
        .await?;
    Ok(TemplatePlace::At(TemplateSource::Url(store.url(&key))))
}
