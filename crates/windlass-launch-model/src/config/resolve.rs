//! Defaults that need the repositories: `resolved_config.json`. Not part of the hash.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use windlass_types::Digest;

use super::{
    Accepted, LocaleMode, PlatformFamily, ProductType, RunConfig, SCHEMA_VERSION, SiteKindChoice,
    TargetPlatform,
};
use crate::{Section, SiteKind, site_path};

/// What the repositories say about themselves.
#[derive(Clone, Debug)]
pub struct Found {
    /// The site's commit.
    pub site_ref: String,
    /// What the product is written for.
    pub target_platform: TargetPlatform,
    /// The family of platforms.
    pub platform_family: PlatformFamily,
    /// What the product is.
    pub product_type: ProductType,
    /// Where the site's Hugo configuration is, if it has one.
    pub hugo_config_dir: Option<String>,
    /// Hugo's content folder, if it is configured.
    pub hugo_content_dir: Option<String>,
    /// Sections whose pages lie in language folders.
    pub sections_with_language_folders: BTreeSet<Section>,
}

/// Where the language stands in a page's path, decided.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum ResolvedLocaleMode {
    /// Nowhere.
    None,
    /// A folder.
    Dir,
    /// Before the ending of the file name.
    Filename,
}

impl ResolvedLocaleMode {
    /// The folder a section's pages are in, relative to the site.
    pub fn folder(self, section_root: &str, family: &str, locale: &str) -> String {
        let folder = site_path::join(section_root, family);
        match self {
            Self::Dir => site_path::join(&folder, locale),
            Self::None | Self::Filename => folder,
        }
    }

    /// The file of a page, relative to the site; `stem` is its name without `.md`.
    pub fn page_path(self, section_root: &str, family: &str, locale: &str, stem: &str) -> String {
        let file = match self {
            Self::Filename => format!("{stem}.{locale}.md"),
            Self::None | Self::Dir => format!("{stem}.md"),
        };
        site_path::join(&self.folder(section_root, family, locale), &file)
    }
}

/// `resolved_config.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResolvedConfig {
    /// The version of this format.
    pub schema_version: String,
    /// The hash of the configuration this belongs to.
    pub config_hash: Digest,
    /// The product's commit.
    pub repo_ref: String,
    /// The site's commit.
    pub site_ref: String,
    /// What the product is written for.
    pub target_platform: TargetPlatform,
    /// The family of platforms.
    pub platform_family: PlatformFamily,
    /// What the product is.
    pub product_type: ProductType,
    /// What kind of site it is.
    pub site_kind: SiteKind,
    /// Where content is, relative to the site.
    pub content_root: String,
    /// Where Hugo's configuration is, relative to the site.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hugo_config_dir: Option<String>,
    /// Where each section that is written is, relative to the site.
    pub section_roots: BTreeMap<Section, String>,
    /// Where the language stands in paths, for each section that is written.
    pub locale_modes: BTreeMap<Section, ResolvedLocaleMode>,
    /// The sections that are written.
    pub required_sections: Vec<Section>,
    /// The sections that are not, because nothing may be written there.
    pub left_out_sections: Vec<LeftOut>,
}

/// A section nothing may be written in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    /// The section.
    pub section: Section,
    /// Where its pages would be, relative to the site.
    pub folder: String,
}

/// Why nothing can be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// A section that was asked for lies outside.
    #[error(
        "section {} would be written to {folder:?}, which lies outside allowed_paths; \
         allow that folder, set site_layout, or leave the section out of required_sections",
        section.as_str()
    )]
    SectionOutside {
        /// The section.
        section: Section,
        /// Where its pages would be.
        folder: String,
    },
    /// No section lies inside.
    #[error(
        "no section lies in allowed_paths (tried {}); allow one of these folders or set site_layout",
        folders.join(", ")
    )]
    NoSection {
        /// Where pages would have been.
        folders: Vec<String>,
    },
}

impl ResolvedConfig {
    /// Fills in what the configuration leaves open.
    pub fn new(accepted: &Accepted, found: Found) -> Result<Self, ResolveError> {
        let config = accepted.config();
        let site_kind = site_kind(config, &found);
        let content_root = content_root(config, &found, site_kind);
        let mut resolved = Self {
            schema_version: SCHEMA_VERSION.to_owned(),
            config_hash: accepted.hash(),
            repo_ref: config.github_ref.clone(),
            target_platform: config.target_platform.unwrap_or(found.target_platform),
            platform_family: config
                .platform_family
                .or(config.target_platform.map(TargetPlatform::family))
                .unwrap_or(found.platform_family),
            product_type: config.product_type.unwrap_or(found.product_type),
            site_kind,
            content_root,
            hugo_config_dir: config.hugo.config_dir.clone().or(found.hugo_config_dir),
            section_roots: BTreeMap::new(),
            locale_modes: BTreeMap::new(),
            required_sections: Vec::new(),
            left_out_sections: Vec::new(),
            site_ref: config.site_ref.clone().unwrap_or(found.site_ref),
        };
        let asked_for = config.required_sections.as_deref();
        for section in Section::ALL {
            if asked_for.is_some_and(|asked_for| !asked_for.contains(&section)) {
                continue;
            }
            let has_folders = found.sections_with_language_folders.contains(&section);
            let mode = locale_mode(config, section, has_folders);
            let root = config.section_root(section, &resolved.content_root);
            let outside = config
                .locales
                .iter()
                .map(|locale| mode.folder(&root, &config.family, locale))
                .find(|folder| !accepted.allowed().reaches_below(folder));
            match outside {
                None => {
                    resolved.section_roots.insert(section, root);
                    resolved.locale_modes.insert(section, mode);
                    resolved.required_sections.push(section);
                }
                Some(folder) if asked_for.is_some() => {
                    return Err(ResolveError::SectionOutside { section, folder });
                }
                Some(folder) => resolved.left_out_sections.push(LeftOut { section, folder }),
            }
        }
        if resolved.required_sections.is_empty() {
            let left_out = resolved.left_out_sections;
            return Err(ResolveError::NoSection {
                folders: left_out
                    .into_iter()
                    .map(|left_out| left_out.folder)
                    .collect(),
            });
        }
        Ok(resolved)
    }

    /// The file of a page, relative to the site; none for a section that is not written.
    pub fn page_path(
        &self,
        section: Section,
        family: &str,
        locale: &str,
        stem: &str,
    ) -> Option<String> {
        let root = self.section_roots.get(&section)?;
        let mode = self.locale_modes.get(&section)?;
        Some(mode.page_path(root, family, locale, stem))
    }
}

impl RunConfig {
    /// Where a section is, relative to the site.
    pub fn section_root(&self, section: Section, content_root: &str) -> String {
        match self.site_layout.subdomain_roots.get(&section) {
            Some(root) => site_path::join(root, ""),
            None => site_path::join(content_root, section.as_str()),
        }
    }
}

fn site_kind(config: &RunConfig, found: &Found) -> SiteKind {
    match config.site_kind {
        SiteKindChoice::Hugo => SiteKind::Hugo,
        SiteKindChoice::Markdown => SiteKind::Markdown,
        SiteKindChoice::Auto if found.hugo_config_dir.is_some() => SiteKind::Hugo,
        SiteKindChoice::Auto => SiteKind::Markdown,
    }
}

fn content_root(config: &RunConfig, found: &Found, site_kind: SiteKind) -> String {
    let configured = config.site_layout.content_root.clone();
    configured.unwrap_or_else(|| match site_kind {
        // Hugo's own default where its configuration names none.
        SiteKind::Hugo => found
            .hugo_content_dir
            .clone()
            .unwrap_or_else(|| "content".to_owned()),
        SiteKind::Markdown => ".".to_owned(),
    })
}

fn locale_mode(config: &RunConfig, section: Section, has_folders: bool) -> ResolvedLocaleMode {
    let modes = &config.site_layout.localization.mode_by_section;
    match modes.get(&section).copied().unwrap_or_default() {
        LocaleMode::None => ResolvedLocaleMode::None,
        LocaleMode::Dir => ResolvedLocaleMode::Dir,
        LocaleMode::Filename => ResolvedLocaleMode::Filename,
        LocaleMode::Auto if has_folders => ResolvedLocaleMode::Dir,
        LocaleMode::Auto if config.locales.len() > 1 => ResolvedLocaleMode::Filename,
        LocaleMode::Auto => ResolvedLocaleMode::None,
    }
}
