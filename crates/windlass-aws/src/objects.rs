//! Buckets and objects over S3's typed client.

use aws_sdk_s3::primitives::ByteStream;
use aws_sdk_s3::types::{
    BucketLocationConstraint, BucketVersioningStatus, CreateBucketConfiguration, Delete,
    ObjectIdentifier, PublicAccessBlockConfiguration, ServerSideEncryption,
    ServerSideEncryptionByDefault, ServerSideEncryptionConfiguration, ServerSideEncryptionRule,
    Tag, Tagging, VersioningConfiguration,
};
use aws_smithy_types::DateTime;
use windlass_ports::aws::{
    AwsFailure, AwsFailureKind, AwsFuture, BucketState, CreateBucket, DeletedObjects, Encryption,
    KeptObject, ListObjects, ObjectBody, ObjectContent, ObjectEntry, ObjectHead, ObjectId,
    ObjectStore, ObjectVersion, PutObject, Target, Versioning,
};
use windlass_types::Timestamp;

use crate::client::Aws;
use crate::form::encode_query;
use crate::typed::call;

/// As many as one DeleteObjects takes.
const DELETE_BATCH: usize = 1000;

impl ObjectStore for Aws {
    fn bucket_state<'a>(
        &'a self,
        target: &'a Target,
        bucket: &'a str,
    ) -> AwsFuture<'a, BucketState> {
        Box::pin(async move {
            let answer = call!(self, target, s3, "s3:ListBucket", |sdk| sdk
                .head_bucket()
                .bucket(bucket));
            match answer {
                Ok(_) => Ok(BucketState::Usable),
                Err(failure) => match (failure.kind, failure.status) {
                    (AwsFailureKind::NotFound, _) => Ok(BucketState::Absent),
                    (AwsFailureKind::Denied, _) => Ok(BucketState::Refused),
                    // Which one is a hint only: that it is elsewhere is known already.
                    (_, Some(301)) => Ok(BucketState::OtherRegion(
                        self.bucket_region(target, bucket).await.ok(),
                    )),
                    _ => Err(failure),
                },
            }
        })
    }

    fn create_bucket<'a>(&'a self, target: &'a Target, request: CreateBucket) -> AwsFuture<'a, ()> {
        Box::pin(async move {
            let session = self.ready(target, "s3:CreateBucket").await?;
            let region = session.require_region("s3:CreateBucket")?;
            // The one region that must not be named.
            let place = (region != "us-east-1").then(|| {
                CreateBucketConfiguration::builder()
                    .location_constraint(BucketLocationConstraint::from(region))
                    .build()
            });
            let made = call!(self, target, s3, "s3:CreateBucket", |sdk| sdk
                .create_bucket()
                .bucket(&request.bucket)
                .set_create_bucket_configuration(place));
            match made {
                Err(failure) if failure.code == "BucketAlreadyOwnedByYou" => {}
                other => drop(other?),
            }
            Box::pin(self.settle_bucket(target, request)).await
        })
    }

    fn delete_bucket<'a>(&'a self, target: &'a Target, bucket: &'a str) -> AwsFuture<'a, ()> {
        Box::pin(async move {
            call!(self, target, s3, "s3:DeleteBucket", |sdk| sdk
                .delete_bucket()
                .bucket(bucket))
            .map(drop)
        })
    }

    fn head_object<'a>(
        &'a self,
        target: &'a Target,
        bucket: &'a str,
        key: &'a str,
    ) -> AwsFuture<'a, Option<ObjectHead>> {
        Box::pin(async move {
            let answer = call!(self, target, s3, "s3:GetObject", |sdk| sdk
                .head_object()
                .bucket(bucket)
                .key(key));
            match answer {
                Ok(answer) => Ok(Some(ObjectHead {
                    content_length: length(answer.content_length),
                    e_tag: answer.e_tag,
                    content_type: answer.content_type,
                    cache_control: answer.cache_control,
                    content_encoding: answer.content_encoding,
                    version_id: answer.version_id,
                    last_modified: time(answer.last_modified),
                    metadata: answer.metadata.into_iter().flatten().collect(),
                })),
                Err(failure) if failure.is_not_found() => Ok(None),
                Err(failure) => Err(failure),
            }
        })
    }

    fn put_object<'a>(&'a self, target: &'a Target, request: PutObject) -> AwsFuture<'a, String> {
        Box::pin(async move {
            let body = match request.body {
                ObjectBody::Bytes(bytes) => ByteStream::from(bytes),
                ObjectBody::File(path) => ByteStream::from_path(&path).await.map_err(|error| {
                    AwsFailure::local(
                        AwsFailureKind::Service,
                        "s3:PutObject",
                        format!("{} cannot be read: {error}", path.display()),
                    )
                })?,
            };
            let tags: Vec<String> = request
                .tags
                .iter()
                .map(|(key, value)| format!("{}={}", encode_query(key), encode_query(value)))
                .collect();
            let answer = call!(self, target, s3, "s3:PutObject", |sdk| sdk
                .put_object()
                .bucket(request.bucket)
                .key(request.key)
                .body(body)
                .set_content_type(request.content_type)
                .set_cache_control(request.cache_control)
                .set_content_encoding(request.content_encoding)
                .set_content_disposition(request.content_disposition)
                .set_metadata(
                    (!request.metadata.is_empty()).then(|| request.metadata.into_iter().collect())
                )
                .set_tagging((!tags.is_empty()).then(|| tags.join("&"))))?;
            Ok(answer.e_tag.unwrap_or_default())
        })
    }

    fn get_object<'a>(
        &'a self,
        target: &'a Target,
        bucket: &'a str,
        key: &'a str,
        max_bytes: u64,
    ) -> AwsFuture<'a, ObjectContent> {
        Box::pin(async move {
            let answer = call!(self, target, s3, "s3:GetObject", |sdk| sdk
                .get_object()
                .bucket(bucket)
                .key(key))?;
            let head = ObjectHead {
                content_length: length(answer.content_length),
                e_tag: answer.e_tag,
                content_type: answer.content_type,
                cache_control: answer.cache_control,
                content_encoding: answer.content_encoding,
                version_id: answer.version_id,
                last_modified: time(answer.last_modified),
                metadata: answer.metadata.into_iter().flatten().collect(),
            };
            let bytes = collect(answer.body, bucket, key, max_bytes).await?;
            Ok(ObjectContent { head, bytes })
        })
    }

    fn delete_objects<'a>(
        &'a self,
        target: &'a Target,
        bucket: &'a str,
        objects: Vec<ObjectId>,
    ) -> AwsFuture<'a, DeletedObjects> {
        Box::pin(async move {
            let mut outcome = DeletedObjects::default();
            for batch in objects.chunks(DELETE_BATCH) {
                self.delete_batch(target, bucket, batch, &mut outcome)
                    .await?;
            }
            Ok(outcome)
        })
    }

    fn list_objects<'a>(
        &'a self,
        target: &'a Target,
        request: ListObjects,
    ) -> AwsFuture<'a, Vec<ObjectEntry>> {
        Box::pin(async move {
            let limit = request.limit.unwrap_or(usize::MAX);
            let mut entries = Vec::new();
            let mut token = None;
            loop {
                let page = call!(self, target, s3, "s3:ListBucket", |sdk| sdk
                    .list_objects_v2()
                    .bucket(&request.bucket)
                    .prefix(&request.prefix)
                    .set_continuation_token(token.take()))?;
                token = page.next_continuation_token;
                let found = page.contents.into_iter().flatten();
                entries.extend(found.map(|object| ObjectEntry {
                    key: object.key.unwrap_or_default(),
                    size: length(object.size),
                    e_tag: object.e_tag,
                    last_modified: time(object.last_modified),
                }));
                if token.is_none() || entries.len() >= limit {
                    entries.truncate(limit);
                    return Ok(entries);
                }
            }
        })
    }

    fn list_versions<'a>(
        &'a self,
        target: &'a Target,
        request: ListObjects,
    ) -> AwsFuture<'a, Vec<ObjectVersion>> {
        Box::pin(async move {
            let limit = request.limit.unwrap_or(usize::MAX);
            let mut versions = Vec::new();
            let mut from = Start::default();
            loop {
                let (page, next) = self
                    .version_page(target, &request.bucket, &request.prefix, from)
                    .await?;
                versions.extend(page);
                match next {
                    Some(next) if versions.len() < limit => from = next,
                    _ => {
                        versions.truncate(limit);
                        return Ok(versions);
                    }
                }
            }
        })
    }

    fn empty_bucket<'a>(
        &'a self,
        target: &'a Target,
        bucket: &'a str,
        prefix: &'a str,
    ) -> AwsFuture<'a, DeletedObjects> {
        Box::pin(async move {
            let mut outcome = DeletedObjects::default();
            let mut from = Start::default();
            loop {
                let (page, next) = match self.version_page(target, bucket, prefix, from).await {
                    Ok(page) => page,
                    Err(failure) if failure.is_not_found() => return Ok(outcome),
                    Err(failure) => return Err(failure),
                };
                let batch: Vec<ObjectId> = page.into_iter().map(|version| version.id).collect();
                if !batch.is_empty() {
                    self.delete_batch(target, bucket, &batch, &mut outcome)
                        .await?;
                }
                match next {
                    Some(next) => from = next,
                    None => return Ok(outcome),
                }
            }
        })
    }
}

/// Where a page of versions begins.
#[derive(Default)]
struct Start {
    key: Option<String>,
    version: Option<String>,
}

impl Aws {
    /// Everything a bucket needs besides its name; each call can be repeated.
    async fn settle_bucket(
        &self,
        target: &Target,
        request: CreateBucket,
    ) -> Result<(), AwsFailure> {
        let bucket = &request.bucket;
        let blocked = PublicAccessBlockConfiguration::builder()
            .block_public_acls(true)
            .ignore_public_acls(true)
            .block_public_policy(true)
            .restrict_public_buckets(true)
            .build();
        call!(self, target, s3, "s3:PutBucketPublicAccessBlock", |sdk| sdk
            .put_public_access_block()
            .bucket(bucket)
            .public_access_block_configuration(blocked))?;
        let encryption = encryption(&request.encryption)?;
        call!(self, target, s3, "s3:PutEncryptionConfiguration", |sdk| sdk
            .put_bucket_encryption()
            .bucket(bucket)
            .server_side_encryption_configuration(encryption))?;
        if request.versioning == Versioning::On {
            let on = VersioningConfiguration::builder()
                .status(BucketVersioningStatus::Enabled)
                .build();
            call!(self, target, s3, "s3:PutBucketVersioning", |sdk| sdk
                .put_bucket_versioning()
                .bucket(bucket)
                .versioning_configuration(on))?;
        }
        if !request.tags.is_empty() {
            let tagging = tagging(&request)?;
            call!(self, target, s3, "s3:PutBucketTagging", |sdk| sdk
                .put_bucket_tagging()
                .bucket(bucket)
                .tagging(tagging))?;
        }
        Ok(())
    }

    async fn bucket_region(&self, target: &Target, bucket: &str) -> Result<String, AwsFailure> {
        let answer = call!(self, target, s3, "s3:GetBucketLocation", |sdk| sdk
            .get_bucket_location()
            .bucket(bucket))?;
        Ok(answer
            .location_constraint
            .map_or_else(|| "us-east-1".to_owned(), |place| place.as_str().to_owned()))
    }

    async fn version_page(
        &self,
        target: &Target,
        bucket: &str,
        prefix: &str,
        from: Start,
    ) -> Result<(Vec<ObjectVersion>, Option<Start>), AwsFailure> {
        let page = call!(self, target, s3, "s3:ListBucketVersions", |sdk| sdk
            .list_object_versions()
            .bucket(bucket)
            .prefix(prefix)
            .set_key_marker(from.key)
            .set_version_id_marker(from.version))?;
        let versions = page.versions.into_iter().flatten().map(|version| {
            object_version(version.key, version.version_id, version.is_latest, false)
        });
        let markers =
            page.delete_markers.into_iter().flatten().map(|marker| {
                object_version(marker.key, marker.version_id, marker.is_latest, true)
            });
        let found = versions.chain(markers).collect();
        let more = page.is_truncated.unwrap_or(false) && page.next_key_marker.is_some();
        let next = more.then_some(Start {
            key: page.next_key_marker,
            version: page.next_version_id_marker,
        });
        Ok((found, next))
    }

    async fn delete_batch(
        &self,
        target: &Target,
        bucket: &str,
        batch: &[ObjectId],
        outcome: &mut DeletedObjects,
    ) -> Result<(), AwsFailure> {
        let identifiers = batch.iter().map(|object| {
            ObjectIdentifier::builder()
                .key(&object.key)
                .set_version_id(object.version_id.clone())
                .build()
                .map_err(|error| incomplete("s3:DeleteObject", &error))
        });
        let delete = Delete::builder()
            .set_objects(Some(identifiers.collect::<Result<_, _>>()?))
            .quiet(true)
            .build()
            .map_err(|error| incomplete("s3:DeleteObject", &error))?;
        let answer = call!(self, target, s3, "s3:DeleteObject", |sdk| sdk
            .delete_objects()
            .bucket(bucket)
            .delete(delete))?;
        let kept: Vec<KeptObject> = answer
            .errors
            .into_iter()
            .flatten()
            .map(|error| KeptObject {
                id: ObjectId {
                    key: error.key.unwrap_or_default(),
                    version_id: error.version_id,
                },
                code: error.code.unwrap_or_default(),
                message: error.message.unwrap_or_default(),
            })
            .collect();
        outcome.deleted += u64::try_from(batch.len().saturating_sub(kept.len())).unwrap_or(0);
        outcome.kept.extend(kept);
        Ok(())
    }
}

async fn collect(
    mut body: ByteStream,
    bucket: &str,
    key: &str,
    max_bytes: u64,
) -> Result<Vec<u8>, AwsFailure> {
    const ACTION: &str = "s3:GetObject";
    let mut bytes = Vec::new();
    loop {
        let piece = match body.next().await {
            None => return Ok(bytes),
            Some(Ok(piece)) => piece,
            Some(Err(error)) => {
                let message = format!("s3://{bucket}/{key} ended early: {error}");
                return Err(AwsFailure::local(
                    AwsFailureKind::Unreachable,
                    ACTION,
                    message,
                ));
            }
        };
        let grown = u64::try_from(bytes.len() + piece.len()).unwrap_or(u64::MAX);
        if grown > max_bytes {
            let message = format!("s3://{bucket}/{key} is longer than {max_bytes} bytes");
            return Err(AwsFailure::local(AwsFailureKind::Service, ACTION, message));
        }
        bytes.extend_from_slice(&piece);
    }
}

fn encryption(wanted: &Encryption) -> Result<ServerSideEncryptionConfiguration, AwsFailure> {
    const ACTION: &str = "s3:PutEncryptionConfiguration";
    let by_default = ServerSideEncryptionByDefault::builder();
    let by_default = match wanted {
        Encryption::S3Managed => by_default.sse_algorithm(ServerSideEncryption::Aes256),
        Encryption::Kms(key) => by_default
            .sse_algorithm(ServerSideEncryption::AwsKms)
            .set_kms_master_key_id(key.clone()),
    }
    .build()
    .map_err(|error| incomplete(ACTION, &error))?;
    ServerSideEncryptionConfiguration::builder()
        .rules(
            ServerSideEncryptionRule::builder()
                .apply_server_side_encryption_by_default(by_default)
                .build(),
        )
        .build()
        .map_err(|error| incomplete(ACTION, &error))
}

fn tagging(request: &CreateBucket) -> Result<Tagging, AwsFailure> {
    const ACTION: &str = "s3:PutBucketTagging";
    let tags = request.tags.iter().map(|(key, value)| {
        Tag::builder()
            .key(key)
            .value(value)
            .build()
            .map_err(|error| incomplete(ACTION, &error))
    });
    Tagging::builder()
        .set_tag_set(Some(tags.collect::<Result<_, _>>()?))
        .build()
        .map_err(|error| incomplete(ACTION, &error))
}

fn object_version(
    key: Option<String>,
    version_id: Option<String>,
    is_latest: Option<bool>,
    is_delete_marker: bool,
) -> ObjectVersion {
    ObjectVersion {
        id: ObjectId {
            key: key.unwrap_or_default(),
            version_id,
        },
        is_latest: is_latest.unwrap_or(false),
        is_delete_marker,
    }
}

fn incomplete(action: &str, error: &impl std::fmt::Display) -> AwsFailure {
    AwsFailure::local(AwsFailureKind::Service, action, error.to_string())
}

fn length(length: Option<i64>) -> u64 {
    length
        .and_then(|length| u64::try_from(length).ok())
        .unwrap_or(0)
}

fn time(time: Option<DateTime>) -> Option<Timestamp> {
    time?.to_millis().ok().map(Timestamp::from_millis)
}
