//! Which file an address on the site means. Reads the source tree, not a built site.

use std::collections::BTreeMap;

use serde_json::Value;
use windlass_launch_model::{
    SiteKind,
    site_path::{folder, resolve},
};

use crate::gates::{input::GateInput, site::is_page};

/// Where a link leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// To another site, or to mail and the like.
    Outside,
    /// To an anchor of the page it is on.
    Here(String),
    /// To a page, and an anchor on it.
    Page(String, String),
    /// To a file that is no page.
    File(String),
    /// To nothing; the path looked for.
    Nothing {
        /// What was looked for.
        wanted: String,
        /// Whether it is written from the root of the site.
        absolute: bool,
    },
}

/// Every address of a site.
pub struct Addresses<'a> {
    input: &'a GateInput,
    pages: BTreeMap<String, String>,
}

impl<'a> Addresses<'a> {
    /// Learns the addresses of every page.
    pub fn new(input: &'a GateInput) -> Self {
        let mut pages = BTreeMap::new();
        for (path, document) in input.documents() {
            for address in default_addresses(input, path) {
                pages.entry(address).or_insert_with(|| path.clone());
            }
            let aliases = document.key("aliases").and_then(Value::as_array);
            let named = aliases.into_iter().flatten().chain(document.key("url"));
            for address in named.filter_map(Value::as_str) {
                pages.entry(plain(address)).or_insert_with(|| path.clone());
            }
            if let Some(slug) = document.key("slug").and_then(Value::as_str) {
                let parent = default_addresses(input, path)
                    .into_iter()
                    .next()
                    .unwrap_or_default();
                pages
                    .entry(plain(&format!("{}/{slug}", folder(&parent))))
                    .or_insert_with(|| path.clone());
            }
        }
        for page in &input.plan.pages {
            if input.site.contains(&page.output_path) {
                pages.insert(plain(&page.url_path), page.output_path.clone());
            }
        }
        Self { input, pages }
    }

    /// Where a link on a page leads.
    pub fn resolve(&self, from: &str, target: &str) -> Target {
        let target = target.trim();
        if is_outside(target) {
            return Target::Outside;
        }
        let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
        let path = decode(path.split('?').next().unwrap_or_default());
        let anchor = decode(anchor);
        if path.is_empty() {
            return Target::Here(anchor);
        }
        let absolute = path.starts_with('/');
        let found = if absolute {
            self.absolute(&path)
        } else {
            self.relative(from, &path)
        };
        match found {
            Some(found) if is_page(&found) => Target::Page(found, anchor),
            Some(found) => Target::File(found),
            None => Target::Nothing {
                wanted: path,
                absolute,
            },
        }
    }

    /// The page at an address.
    pub fn page_at(&self, address: &str) -> Option<&str> {
        self.pages.get(&plain(address)).map(String::as_str)
    }

    fn absolute(&self, path: &str) -> Option<String> {
        if let Some(page) = self.page_at(path) {
            return Some(page.to_owned());
        }
        let clean = resolve("", path)?;
        let root = self.input.context.content_root.trim_matches('/');
        let folders: &[&str] = match self.input.context.site_kind {
            SiteKind::Hugo => &["static", root, "assets"],
            SiteKind::Markdown => &[root, ".", "static", "public"],
        };
        folders
            .iter()
            .filter_map(|folder| resolve(folder, &clean))
            .find_map(|candidate| self.file(&candidate))
    }

    fn relative(&self, from: &str, path: &str) -> Option<String> {
        let by_file = resolve(folder(from), path).and_then(|candidate| self.file(&candidate));
        by_file.or_else(|| {
            // A browser resolves it against the page's address.
            let own = default_addresses(self.input, from).into_iter().next()?;
            let planned = self.input.planned(from).map(|page| plain(&page.url_path));
            let base = planned.unwrap_or(own);
            let address = resolve(&base, path)?;
            self.page_at(&address)
                .map(str::to_owned)
                .or_else(|| self.file(&format!("static/{address}")))
        })
    }

    /// The file itself, the page without its extension, or the folder's index.
    fn file(&self, candidate: &str) -> Option<String> {
        let candidate = candidate.trim_end_matches('/');
        let inside = |name: &str| {
            if candidate.is_empty() {
                name.to_owned()
            } else {
                format!("{candidate}/{name}")
            }
        };
        let names = [
            candidate.to_owned(),
            format!("{candidate}.md"),
            inside("_index.md"),
            inside("index.md"),
            inside("README.md"),
            inside("index.html"),
        ];
        names
            .into_iter()
            .find(|name| self.input.site.contains(name))
    }
}

/// Whether an address leads off the site or is no address.
pub fn is_outside(target: &str) -> bool {
    let scheme = target.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
    });
    scheme || target.starts_with("//") || target.starts_with("{{")
}

/// An address without the slashes around it, lower case.
fn plain(address: &str) -> String {
    address.trim_matches('/').to_lowercase()
}

/// The addresses a page has by where its file is, with and without its language.
fn default_addresses(input: &GateInput, path: &str) -> Vec<String> {
    let root = input.context.content_root.trim_matches('/');
    let inner = if root.is_empty() || root == "." {
        path
    } else {
        match path
            .strip_prefix(root)
            .and_then(|rest| rest.strip_prefix('/'))
        {
            Some(inner) => inner,
            None => return Vec::new(),
        }
    };
    let stem = inner.rsplit_once('.').map_or(inner, |(stem, _)| stem);
    let without_index = |stem: &str| {
        let (parent, name) = stem.rsplit_once('/').unwrap_or(("", stem));
        if matches!(name, "_index" | "index" | "README") {
            parent.to_lowercase()
        } else {
            stem.to_lowercase()
        }
    };
    let mut found = vec![without_index(stem)];
    // `page.de.md` is at `/page/` for its own language and at `/de/page/`.
    if let Some((bare, language)) = stem.rsplit_once('.').filter(|(_, l)| l.len() <= 5) {
        let bare = without_index(bare);
        found.push(plain(&format!("{language}/{bare}")));
        found.push(bare);
    }
    found
}

fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = bytes
            .get(at + 1..at + 3)
            .and_then(|pair| str::from_utf8(pair).ok())
            .and_then(|pair| u8::from_str_radix(pair, 16).ok());
        match (bytes[at], hex) {
            (b'%', Some(byte)) => {
                out.push(byte);
                at += 3;
            }
            (byte, _) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gates::sample;

    #[test]
    fn links_resolve() {
        let input = GateInput::new(sample::subject());
        let addresses = Addresses::new(&input);
        let page = |path: &str, anchor: &str| Target::Page(path.to_owned(), anchor.to_owned());
        let cases = [
            ("https://x.example/", Target::Outside),
            ("mailto:a@b.example", Target::Outside),
            ("#convert", Target::Here("convert".to_owned())),
            ("/docs/acme/", page(sample::TOC, "")),
            ("/docs/acme/guide/#convert", page(sample::GUIDE, "convert")),
            ("/Docs/Acme/Guide", page(sample::GUIDE, "")),
            ("_index.md", page(sample::TOC, "")),
            ("../", page(sample::TOC, "")),
            ("/img/a.png", Target::File("static/img/a.png".to_owned())),
            (
                "/nowhere/",
                Target::Nothing {
                    wanted: "/nowhere/".to_owned(),
                    absolute: true,
                },
            ),
            (
                "gone.md",
                Target::Nothing {
                    wanted: "gone.md".to_owned(),
                    absolute: false,
                },
            ),
            (
                "../../../../up.md",
                Target::Nothing {
                    wanted: "../../../../up.md".to_owned(),
                    absolute: false,
                },
            ),
        ];
        for (target, expected) in cases {
            assert_eq!(
                addresses.resolve(sample::GUIDE, target),
                expected,
                "{target}"
            );
        }
    }
}
