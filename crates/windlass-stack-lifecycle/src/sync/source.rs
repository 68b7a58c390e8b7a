//! Which directories go into which buckets, as the config says.

use std::path::{Path, PathBuf};

use windlass_stack_compile::SyncedBucket;
use windlass_stack_config::Config;
use windlass_stack_config::model::ResourceKind;
use windlass_stack_config::model::common::EnvironmentVariable;
use windlass_stack_config::model::storage::CommandIn;
use windlass_types::Problem;

use crate::package::Globs;
use crate::sync::headers::{Rules, invalid};
use crate::sync::manifest::Ownership;

/// A directory and the bucket it goes into.
#[derive(Debug)]
pub struct SyncSource {
    /// The resource's name in the config.
    pub resource: String,
    /// The logical id of the bucket.
    pub bucket_id: String,
    /// The logical id of the distribution whose cached contents are dropped afterwards.
    pub distribution_id: Option<String>,
    /// The directory.
    pub directory: PathBuf,
    /// Whose files the bucket holds.
    pub ownership: Ownership,
    /// How the directory is made.
    pub build: Option<CommandIn>,
    /// Values put into pages and given to the build.
    pub inject: Vec<EnvironmentVariable>,
    /// A file the same values are written to.
    pub dotenv: Option<PathBuf>,
    /// Where the config is.
    pub config_directory: PathBuf,
    pub(crate) excluded: Globs,
    pub(crate) rules: Rules,
}

/// The directories of all buckets that have one. Patterns and headers are checked here, so that a
/// deploy fails before it begins.
pub fn sources(
    config: &Config,
    synced: &[SyncedBucket],
    config_directory: &Path,
) -> Result<Vec<SyncSource>, Problem> {
    synced
        .iter()
        .filter_map(|bucket| source(config, bucket, config_directory).transpose())
        .collect()
}

fn source(
    config: &Config,
    synced: &SyncedBucket,
    config_directory: &Path,
) -> Result<Option<SyncSource>, Problem> {
    let name = &synced.resource;
    let excluded = |property: &str, patterns: &[String]| {
        Globs::new(patterns).map_err(|cause| invalid(name, property, "invalid_pattern", cause))
    };
    let is_invalidated = synced.invalidates.is_some();
    let made = match config.resources.get(name).map(|resource| &resource.kind) {
        Some(ResourceKind::Bucket(bucket)) => {
            let Some(upload) = &bucket.directory_upload else {
                return Ok(None);
            };
            SyncSource {
                resource: name.clone(),
                bucket_id: synced.logical_id.clone(),
                distribution_id: synced.invalidates.clone(),
                directory: config_directory.join(&upload.directory_path),
                ownership: Ownership::Shared,
                build: None,
                inject: Vec::new(),
                dotenv: None,
                config_directory: config_directory.to_owned(),
                excluded: excluded(
                    "directoryUpload.excludeFilesPatterns",
                    &upload.exclude_files_patterns,
                )?,
                rules: Rules::read(
                    name,
                    &upload.file_options,
                    upload.headers_preset,
                    is_invalidated,
                )?,
            }
        }
        Some(ResourceKind::HostingBucket(site)) => SyncSource {
            resource: name.clone(),
            bucket_id: synced.logical_id.clone(),
            distribution_id: synced.invalidates.clone(),
            directory: config_directory.join(&site.upload_directory_path),
            ownership: Ownership::Whole,
            build: site.build.clone(),
            inject: site.inject_environment.clone(),
            dotenv: site
                .write_dotenv_files_to
                .as_ref()
                .map(|path| config_directory.join(path)),
            config_directory: config_directory.to_owned(),
            excluded: excluded("excludeFilesPatterns", &site.exclude_files_patterns)?,
            rules: Rules::read(
                name,
                &site.file_options,
                Some(site.hosting_content_type),
                is_invalidated,
            )?,
        },
        _ => return Ok(None),
    };
    Ok(Some(made))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn synced(resource: &str) -> SyncedBucket {
        SyncedBucket {
            resource: resource.to_owned(),
            logical_id: format!("{resource}Bucket"),
            bucket: format!("{resource}-1"),
            invalidates: Some("Distribution".to_owned()),
        }
    }

    #[test]
    fn buckets_and_websites_have_directories() {
        let config: Config = serde_json::from_value(json!({ "resources": {
            "files": { "type": "bucket", "properties": { "directoryUpload": { "directoryPath": "data" } } },
            "site": { "type": "hosting-bucket", "properties": {
                "uploadDirectoryPath": "../web/dist",
                "build": { "command": "npm run build" },
                "errorDocument": "/404.html",
                "writeDotenvFilesTo": "web/.env",
            } },
            "plain": { "type": "bucket", "properties": {} },
        } }))
        .unwrap();
        let all = [synced("files"), synced("site"), synced("plain")];
        let found = sources(&config, &all, Path::new("/p")).unwrap();
        let shown: Vec<_> = found
            .iter()
            .map(|it| {
                (
                    it.resource.as_str(),
                    it.directory.to_str().unwrap(),
                    it.ownership,
                )
            })
            .collect();
        assert_eq!(
            shown,
            [
                ("files", "/p/data", Ownership::Shared),
                ("site", "/p/../web/dist", Ownership::Whole)
            ]
        );
        let site = &found[1];
        assert_eq!(site.build.as_ref().unwrap().working_directory, ".");
        assert_eq!(site.dotenv.as_deref(), Some(Path::new("/p/web/.env")));
        assert_eq!(site.distribution_id.as_deref(), Some("Distribution"));
    }

    #[test]
    fn a_bad_pattern_is_refused_before_anything_happens() {
        let config: Config = serde_json::from_value(json!({ "resources": { "site": {
            "type": "hosting-bucket",
            "properties": { "uploadDirectoryPath": "d", "excludeFilesPatterns": ["[a"] },
        } } }))
        .unwrap();
        let problem = sources(&config, &[synced("site")], Path::new("/p")).unwrap_err();
        assert_eq!(problem.details()["property"], "excludeFilesPatterns");
        assert_eq!(problem.details()["resource"], "site");
    }
}
