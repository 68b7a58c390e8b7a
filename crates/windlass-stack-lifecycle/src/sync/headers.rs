//! Headers and tags of files: what suits the kind of site, then what the config says.
//!
//! Pages are asked for again with each visit; files whose name changes with their contents are
//! kept permanently.

use std::collections::BTreeMap;

use windlass_stack_config::model::storage::{FileOptions, HostingContentType};
use windlass_types::{Problem, code};

use crate::package::Globs;
use crate::sync::content_type::content_type;

/// Browsers ask each time whether there is a newer one.
const ASK: &str = "public, max-age=0, must-revalidate";
/// So do browsers; the CDN in front keeps it until it is asked to drop it.
const ASK_THE_EDGE: &str = "public, max-age=0, s-maxage=31536000, must-revalidate";
/// Never asked for again.
const KEEP: &str = "public, max-age=31536000, immutable";

const METADATA: &str = "x-amz-meta-";
/// How many tags S3 accepts.
const MOST_TAGS: usize = 10;

/// The rules for the files of one bucket.
#[derive(Debug)]
pub(crate) struct Rules {
    preset: Option<HostingContentType>,
    /// Whether the CDN in front is asked to drop what it keeps.
    is_invalidated: bool,
    options: Vec<Rule>,
}

#[derive(Debug)]
struct Rule {
    include: Globs,
    exclude: Globs,
    headers: Vec<(Header, String)>,
    tags: Vec<(String, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Header {
    ContentType,
    CacheControl,
    ContentEncoding,
    ContentDisposition,
    Metadata(String),
}

/// What one file is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Given {
    pub content_type: String,
    pub cache_control: Option<String>,
    pub content_encoding: Option<String>,
    pub content_disposition: Option<String>,
    pub metadata: BTreeMap<String, String>,
    pub tags: BTreeMap<String, String>,
}

impl Rules {
    /// Reads the options of a resource; the first that S3 would not take is refused.
    pub fn read(
        resource: &str,
        options: &[FileOptions],
        preset: Option<HostingContentType>,
        is_invalidated: bool,
    ) -> Result<Self, Problem> {
        let mut rules = Vec::new();
        for (index, option) in options.iter().enumerate() {
            let at = |property: &str| format!("fileOptions.{index}.{property}");
            let globs = |property: &str, patterns: &[String]| {
                Globs::new(patterns)
                    .map_err(|cause| invalid(resource, &at(property), "invalid_pattern", cause))
            };
            let mut headers = Vec::new();
            for pair in &option.headers {
                let Some(header) = Header::read(&pair.key) else {
                    let cause = format!("S3 objects cannot have the header \"{}\"", pair.key);
                    return Err(invalid(resource, &at("headers"), "unsupported_header", cause)
                        .next("use Cache-Control, Content-Type, Content-Encoding, Content-Disposition or x-amz-meta-…"));
                };
                headers.push((header, pair.value.clone()));
            }
            let tags = option.tags.iter();
            rules.push(Rule {
                include: globs(
                    "includePattern",
                    std::slice::from_ref(&option.include_pattern),
                )?,
                exclude: globs("excludePattern", option.exclude_pattern.as_slice())?,
                headers,
                tags: tags
                    .map(|tag| (tag.key.clone(), tag.value.clone()))
                    .collect(),
            });
        }
        Ok(Self {
            preset,
            is_invalidated,
            options: rules,
        })
    }

    /// What a file is given. Later options win.
    pub fn of(&self, resource: &str, path: &str) -> Result<Given, Problem> {
        let mut given = Given {
            content_type: content_type(path).to_owned(),
            cache_control: self.preset.map(|preset| self.cache_control(preset, path)),
            ..Given::default()
        };
        let fitting = self
            .options
            .iter()
            .filter(|rule| rule.include.is_match(path) && !rule.exclude.is_match(path));
        for rule in fitting {
            for (header, value) in &rule.headers {
                let value = value.clone();
                match header {
                    Header::ContentType => given.content_type = value,
                    Header::CacheControl => given.cache_control = Some(value),
                    Header::ContentEncoding => given.content_encoding = Some(value),
                    Header::ContentDisposition => given.content_disposition = Some(value),
                    Header::Metadata(name) => {
                        given.metadata.insert(name.clone(), value);
                    }
                }
            }
            given.tags.extend(rule.tags.iter().cloned());
        }
        if given.tags.len() > MOST_TAGS {
            let cause = format!(
                "{path} would have {} tags; S3 takes {MOST_TAGS}",
                given.tags.len()
            );
            return Err(invalid(resource, "fileOptions", "too_many_tags", cause));
        }
        Ok(given)
    }

    fn cache_control(&self, preset: HostingContentType, path: &str) -> String {
        let keeps = match preset {
            // Nothing is known of how these were made.
            HostingContentType::StaticWebsite => false,
            HostingContentType::SinglePageApp => has_hash(path),
            HostingContentType::AstroStaticWebsite => path.starts_with("_astro/"),
            HostingContentType::GatsbyStaticWebsite => {
                path.starts_with("static/") || (has_hash(path) && !path.starts_with("page-data/"))
            }
            HostingContentType::NuxtStaticWebsite => path.starts_with("_nuxt/"),
            HostingContentType::SveltekitStaticWebsite => path.starts_with("_app/immutable/"),
        };
        match (keeps, self.is_invalidated) {
            (true, _) => KEEP,
            (false, true) => ASK_THE_EDGE,
            (false, false) => ASK,
        }
        .to_owned()
    }
}

impl Header {
    fn read(name: &str) -> Option<Self> {
        let name = name.trim().to_ascii_lowercase();
        match name.as_str() {
            "content-type" => Some(Self::ContentType),
            "cache-control" => Some(Self::CacheControl),
            "content-encoding" => Some(Self::ContentEncoding),
            "content-disposition" => Some(Self::ContentDisposition),
            _ => {
                let own = name.strip_prefix(METADATA).filter(|own| {
                    !own.is_empty()
                        && *own != crate::sync::manifest::MARK
                        && own
                            .bytes()
                            .all(|it| it.is_ascii_alphanumeric() || it == b'-')
                });
                own.map(|own| Self::Metadata(own.to_owned()))
            }
        }
    }
}

/// Whether a name carries a hash of the contents: `app.3f9a2c1b.js`, `index-BqX2_k9L.css`.
fn has_hash(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let mut parts = name.split(['.', '-']).skip(1).collect::<Vec<_>>();
    // What is behind the last point is the ending, not a hash.
    let is_ended = name.rsplit_once('.').is_some();
    if is_ended {
        parts.pop();
    }
    let is_page = crate::sync::content_type::is_page(path);
    !is_page && is_ended && parts.iter().any(|part| is_hash(part))
}

fn is_hash(part: &str) -> bool {
    let digits = part.bytes().filter(u8::is_ascii_digit).count();
    let letters = part.bytes().filter(u8::is_ascii_alphabetic).count();
    let is_hexadecimal = part.bytes().all(|it| it.is_ascii_hexdigit());
    let is_mixed = part.bytes().any(|it| it.is_ascii_uppercase())
        && part.bytes().any(|it| it.is_ascii_lowercase());
    let is_whole = part
        .bytes()
        .all(|it| it.is_ascii_alphanumeric() || it == b'_');
    let looks_random = is_hexadecimal || digits >= 1 && is_mixed;
    part.len() >= 8 && is_whole && letters >= 1 && digits >= 1 && looks_random
}

/// A part of a resource that cannot be used.
pub(crate) fn invalid(
    resource: &str,
    property: &str,
    reason: &str,
    cause: impl std::fmt::Display,
) -> Problem {
    Problem::new(
        &code::INVALID_INPUT,
        format!("\"{resource}\": {property}: {cause}"),
    )
    .with("reason", reason)
    .with("resource", resource)
    .with("property", property)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn rules(options: Value, preset: Option<&str>, is_invalidated: bool) -> Result<Rules, Problem> {
        let options: Vec<FileOptions> = serde_json::from_value(options).unwrap();
        let preset = preset.map(|preset| serde_json::from_value(json!(preset)).unwrap());
        Rules::read("site", &options, preset, is_invalidated)
    }

    #[test]
    fn presets() {
        for (preset, path, expected) in [
            ("static-website", "app.3f9a2c1b.js", ASK_THE_EDGE),
            ("static-website", "index.html", ASK_THE_EDGE),
            ("single-page-app", "assets/index-BqX2k9Lz.js", KEEP),
            ("single-page-app", "static/js/main.3f9a2c1b.js", KEEP),
            ("single-page-app", "static/js/main.3f9a2c1b.js.map", KEEP),
            ("single-page-app", "favicon.ico", ASK_THE_EDGE),
            ("single-page-app", "logo-transparent.png", ASK_THE_EDGE),
            ("single-page-app", "photo-20240101.jpg", ASK_THE_EDGE),
            ("single-page-app", "index.3f9a2c1b.html", ASK_THE_EDGE),
            ("single-page-app", "readme-3f9a2c1b", ASK_THE_EDGE),
            ("astro-static-website", "_astro/a.js", KEEP),
            ("astro-static-website", "robots.txt", ASK_THE_EDGE),
            ("gatsby-static-website", "static/d/1.png", KEEP),
            ("gatsby-static-website", "app-1b2c3d4e5f.js", KEEP),
            (
                "gatsby-static-website",
                "page-data/app-data-1b2c3d4e.json",
                ASK_THE_EDGE,
            ),
            ("nuxt-static-website", "_nuxt/x.js", KEEP),
            ("nuxt-static-website", "200.html", ASK_THE_EDGE),
            ("sveltekit-static-website", "_app/immutable/x.js", KEEP),
            (
                "sveltekit-static-website",
                "_app/version.json",
                ASK_THE_EDGE,
            ),
        ] {
            let given = rules(json!([]), Some(preset), true)
                .unwrap()
                .of("site", path);
            let shown = given.unwrap().cache_control;
            assert_eq!(shown.as_deref(), Some(expected), "{preset} {path}");
        }
        let plain = rules(json!([]), None, true)
            .unwrap()
            .of("site", "a.css")
            .unwrap();
        assert_eq!(plain.cache_control, None);
        // A CDN that keeps what it has must not be asked to keep it for a year.
        let kept = rules(json!([]), Some("static-website"), false).unwrap();
        assert_eq!(
            kept.of("site", "a.css").unwrap().cache_control.as_deref(),
            Some(ASK)
        );
    }

    #[test]
    fn options_win_over_the_preset_and_later_ones_over_earlier() {
        let options = json!([
            {
                "includePattern": "**/*", "excludePattern": "private/**",
                "headers": [
                    { "key": "cache-control", "value": "no-cache" },
                    { "key": "X-Amz-Meta-Team", "value": "web" },
                ],
                "tags": [{ "key": "a", "value": "1" }, { "key": "b", "value": "1" }],
            },
            {
                "includePattern": "**/*.js.gz",
                "headers": [
                    { "key": "Content-Type", "value": "text/javascript" },
                    { "key": "Content-Encoding", "value": "gzip" },
                    { "key": "Content-Disposition", "value": "inline" },
                    { "key": "Cache-Control", "value": "no-store" },
                ],
                "tags": [{ "key": "a", "value": "2" }],
            },
        ]);
        let rules = rules(options, Some("static-website"), true).unwrap();
        let map = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            let pairs = pairs.iter();
            pairs
                .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()))
                .collect()
        };
        let private = rules.of("site", "private/x.js.txt").unwrap();
        assert_eq!(private.cache_control.as_deref(), Some(ASK_THE_EDGE));
        assert_eq!((private.metadata, private.tags), (map(&[]), map(&[])));
        let packed = rules.of("site", "x/app.js.gz").unwrap();
        assert_eq!(
            packed,
            Given {
                content_type: "text/javascript".to_owned(),
                cache_control: Some("no-store".to_owned()),
                content_encoding: Some("gzip".to_owned()),
                content_disposition: Some("inline".to_owned()),
                metadata: map(&[("team", "web")]),
                tags: map(&[("a", "2"), ("b", "1")]),
            }
        );
    }

    #[test]
    fn what_s3_does_not_accept_is_refused_by_name() {
        let header = |name: &str| json!([{ "includePattern": "*", "headers": [{ "key": name, "value": "x" }] }]);
        for name in [
            "X-Frame-Options",
            "Expires",
            "x-amz-meta-",
            "x-amz-meta-windlass-entry",
            "x-amz-meta-a b",
        ] {
            let problem = rules(header(name), None, true).unwrap_err();
            assert_eq!(problem.details()["reason"], "unsupported_header", "{name}");
            assert_eq!(problem.details()["property"], "fileOptions.0.headers");
            assert!(problem.message().contains(name), "{problem}");
        }
        for (include, exclude) in [("../x", "a"), ("a", "[x")] {
            let options = json!([{ "includePattern": include, "excludePattern": exclude }]);
            let problem = rules(options, None, true).unwrap_err();
            assert_eq!(problem.details()["reason"], "invalid_pattern");
        }
        let tags: Vec<Value> = (0..11)
            .map(|it| json!({ "key": it.to_string(), "value": "" }))
            .collect();
        let many = rules(json!([{ "includePattern": "*", "tags": tags }]), None, true).unwrap();
        let problem = many.of("site", "a.txt").unwrap_err();
        assert_eq!(problem.details()["reason"], "too_many_tags");
    }
}
