//! Buckets, and websites in buckets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cdn::{Cdn, CustomOrigin, RouteRewrite};
use super::common::{
    CorsMethod, CustomDomain, DevSettings, EnvironmentVariable, KeyValue, ResourcePolicyStatement,
};
use crate::defaults::here;
use crate::tagged::tagged;

/// An S3 bucket.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Bucket {
    /// A local directory whose files are uploaded to the bucket with each deploy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory_upload: Option<DirectoryUpload>,
    /// Who may read and write.
    #[serde(default)]
    pub accessibility: BucketAccessibility,
    /// Which other origins a browser may call from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cors: Option<BucketCors>,
    /// Keep old versions of objects.
    #[serde(default)]
    pub versioning: bool,
    /// Encrypt objects with a key of S3.
    #[serde(default)]
    pub encryption: bool,
    /// What happens to objects as they age.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lifecycle_rules: Vec<LifecycleRule>,
    /// Send events to the account's default event bus.
    #[serde(default)]
    pub enable_event_bus_notifications: bool,
    /// A content delivery network in front.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cdn: Option<Cdn>,
    /// How it behaves in local development.
    #[serde(default)]
    pub dev: DevSettings,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DirectoryUpload {
    /// The directory, relative to the config.
    #[schemars(length(min = 1))]
    pub directory_path: String,
    /// Headers and tags of files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub file_options: Vec<FileOptions>,
    /// Patterns of files to leave out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclude_files_patterns: Vec<String>,
    /// Headers that suit a kind of website.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headers_preset: Option<HostingContentType>,
    /// Do not use transfer acceleration.
    #[serde(default)]
    pub disable_s3_transfer_acceleration: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FileOptions {
    /// Which files.
    pub include_pattern: String,
    /// Which of them not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exclude_pattern: Option<String>,
    /// Headers the files are served with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<KeyValue>,
    /// Tags of the objects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<KeyValue>,
}

/// Who may read and write a bucket's objects.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BucketAccessibility {
    /// Everyone, or those with permission.
    pub accessibility_mode: BucketAccessibilityMode,
    /// Further statements of the bucket's policy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub access_policy_statements: Vec<ResourcePolicyStatement>,
}

/// Who may read and write a bucket's objects.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum BucketAccessibilityMode {
    #[default]
    Private,
    PublicRead,
    PublicReadWrite,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BucketCors {
    /// Answer browsers of other origins.
    pub enabled: bool,
    /// What they may do; everything without.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cors_rules: Vec<BucketCorsRule>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BucketCorsRule {
    /// Origins that may call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_origins: Option<Vec<String>>,
    /// Headers a caller may send.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_headers: Option<Vec<String>>,
    /// Methods a caller may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_methods: Option<Vec<CorsMethod>>,
    /// Headers a page may read from the response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exposed_response_headers: Option<Vec<String>>,
    /// For how many seconds a browser may remember the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_age: Option<u32>,
}

tagged! {
    /// What happens to objects as they age.
    pub enum LifecycleRule {
        /// They are deleted.
        Expiration(AfterUpload) = "expiration",
        /// Old versions are deleted.
        NonCurrentVersionExpiration(AfterVersioned) = "non-current-version-expiration",
        /// They move to a cheaper class.
        ClassTransition(MoveAfterUpload) = "class-transition",
        /// Old versions move to a cheaper class.
        NonCurrentVersionClassTransition(MoveAfterVersioned) = "non-current-version-class-transition",
        /// Uploads that were started and not finished are aborted.
        AbortIncompleteMultipartUpload(AfterInitiation) = "abort-incomplete-multipart-upload",
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AfterUpload {
    /// Days after the upload.
    #[schemars(range(min = 1))]
    pub days_after_upload: u32,
    /// Only keys with this prefix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// Only objects with these tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<KeyValue>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AfterVersioned {
    /// Days after a newer version appeared.
    #[schemars(range(min = 1))]
    pub days_after_versioned: u32,
    /// Only keys with this prefix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// Only objects with these tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<KeyValue>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MoveAfterUpload {
    /// Days after the upload.
    #[schemars(range(min = 1))]
    pub days_after_upload: u32,
    /// The class they move to.
    pub storage_class: StorageClass,
    /// Only keys with this prefix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// Only objects with these tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<KeyValue>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MoveAfterVersioned {
    /// Days after a newer version appeared.
    #[schemars(range(min = 1))]
    pub days_after_versioned: u32,
    /// The class they move to.
    pub storage_class: StorageClass,
    /// Only keys with this prefix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// Only objects with these tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<KeyValue>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AfterInitiation {
    /// Days after the upload was started.
    #[schemars(range(min = 1))]
    pub days_after_initiation: u32,
    /// Only keys with this prefix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// Only objects with these tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<KeyValue>,
}

/// A storage class objects can move to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum StorageClass {
    DeepArchive,
    Glacier,
    GlacierIr,
    IntelligentTiering,
    OnezoneIa,
    StandardIa,
}

/// A website: files in a bucket behind a content delivery network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("x-windlass-rejected" = {
    "edgeFunctions": "it needs edge-lambda-function",
    "useFirewall": "it needs web-app-firewall"
}))]
pub struct HostingBucket {
    /// The directory with the built site, relative to the config.
    #[schemars(length(min = 1))]
    pub upload_directory_path: String,
    /// How the site is built.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<CommandIn>,
    /// What serves the site in local development.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dev: Option<CommandIn>,
    /// Patterns of files to leave out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclude_files_patterns: Vec<String>,
    /// The kind of site: it decides on headers and rewrites.
    #[serde(default)]
    pub hosting_content_type: HostingContentType,
    /// Domain names of the site.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub custom_domains: Vec<CustomDomain>,
    /// The page for `/`.
    #[serde(default = "index_document")]
    pub index_document: String,
    /// The page for missing pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_document: Option<String>,
    /// Ask for the path exactly as it came.
    #[serde(default)]
    pub disable_url_normalization: bool,
    /// Values written into the page as `window.STP_INJECTED_ENV`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inject_environment: Vec<EnvironmentVariable>,
    /// A file the same values are written to before the build.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_dotenv_files_to: Option<String>,
    /// Headers and tags of files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub file_options: Vec<FileOptions>,
    /// Paths that lead elsewhere; the first that fits counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub route_rewrites: Vec<RouteRewrite>,
    /// Where everything that is not a file goes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback_origin: Option<CustomOrigin>,
    /// Keep cached contents across deploys.
    #[serde(default)]
    pub disable_invalidation_after_deploy: bool,
}

fn index_document() -> String {
    "/index.html".to_owned()
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CommandIn {
    /// The command.
    #[schemars(length(min = 1))]
    pub command: String,
    /// Where it runs, relative to the config.
    #[serde(default = "here")]
    pub working_directory: String,
}

/// The kind of a website.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum HostingContentType {
    #[default]
    StaticWebsite,
    SinglePageApp,
    AstroStaticWebsite,
    GatsbyStaticWebsite,
    NuxtStaticWebsite,
    SveltekitStaticWebsite,
}
