//! Pages as text: front matter from the section's contract, body from the role's template.
//!
//! Every statement in a draft carries the marker of its claim or is a registered phrase; code
//! comes from the catalogue alone. The same input produces the same bytes.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use windlass_launch_model::{
    ARTIFACT_VERSION, DraftEntry, DraftManifest, FrontmatterContract, Page, PagePlan, Section,
    SectionContract, SiteKind,
    markdown::{
        Document,
        frontmatter::{self, Format},
    },
};
use windlass_types::{Digest, Problem};

use crate::{
    blocks::{self, Block},
    budget,
    evidence::Material,
    phrases, plan,
    ruleset::Ruleset,
    templates,
};

/// What a page of a launch says of itself when no claim marker does.
pub(crate) const PAGE_MARK: &str = "<!-- launch: page -->";

/// Everything drafts are made of.
#[derive(Clone, Copy, Debug)]
pub struct DraftInput<'a> {
    /// The pages.
    pub plan: &'a PagePlan,
    /// What may be said and shown.
    pub material: &'a Material<'a>,
    /// What front matter looks like.
    pub contract: &'a FrontmatterContract,
    /// What kind of site it is.
    pub site_kind: SiteKind,
    /// The rules the plan was made by.
    pub ruleset: &'a Ruleset,
    /// `YYYY-MM-DD` for sections whose pages carry a date: the day of the product's commit, so
    /// that the same input produces the same page.
    pub date: &'a str,
    /// `product`, `docs`, `reference`: the address each is known by.
    pub canonical_urls: &'a BTreeMap<String, String>,
    /// No page is longer, as far as what it lists can be shortened.
    pub max_lines: u64,
}

/// A page's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// The page.
    pub page_id: String,
    /// Its section.
    pub section: Section,
    /// Its file, relative to the site.
    pub output_path: String,
    /// The text.
    pub text: String,
}

#[derive(Serialize)]
struct Context<'a> {
    say: &'a BTreeMap<String, String>,
    blocks: Vec<Block>,
}

/// Drafts every page of the plan, in its order.
pub fn draft_pages(input: &DraftInput<'_>) -> Result<Vec<Draft>, Problem> {
    input
        .plan
        .pages
        .iter()
        .map(|page| draft_page(page, input))
        .collect()
}

/// Drafts one page.
pub fn draft_page(page: &Page, input: &DraftInput<'_>) -> Result<Draft, Problem> {
    let front_matter = front_matter(page, input);
    let room = budget::room(input.max_lines).saturating_sub(front_matter.lines().count() + 1);
    let mut context = Context {
        say: phrases::all(),
        blocks: blocks::blocks(page, input),
    };
    let mut body = templates::render(&page.template, &context)?;
    // That a list is shortened takes a line of its own, so once may not be enough.
    loop {
        let over = body.lines().count().saturating_sub(room);
        if over == 0 || !blocks::shorten(&mut context.blocks, over) {
            break;
        }
        body = templates::render(&page.template, &context)?;
    }
    let body = recognisable(body);
    Ok(Draft {
        page_id: page.page_id.clone(),
        section: page.section,
        output_path: page.output_path.clone(),
        text: format!("{front_matter}\n{body}"),
    })
}

/// A body that a later launch recognises as its own. Claim markers identify it; a page without any
/// gets a comment behind its first line, within the paragraph, where site generators drop it.
fn recognisable(body: String) -> String {
    if Document::parse_body(&body).markers().next().is_some() {
        return body;
    }
    match body.split_once('\n') {
        Some((first, rest)) => format!("{first} {PAGE_MARK}\n{rest}"),
        None => body,
    }
}

/// `draft_manifest.json`.
pub fn manifest(drafts: &[Draft]) -> DraftManifest {
    let entry = |draft: &Draft| DraftEntry {
        page_id: draft.page_id.clone(),
        output_path: draft.output_path.clone(),
        draft_path: format!("drafts/{}/{}", draft.section.as_str(), draft.output_path),
        sha256: Digest::of(draft.text.as_bytes()).to_string(),
    };
    DraftManifest {
        schema_version: ARTIFACT_VERSION.to_owned(),
        drafts: drafts.iter().map(entry).collect(),
    }
}

/// A page's front matter, with its fences.
pub fn front_matter(page: &Page, input: &DraftInput<'_>) -> String {
    let unknown = SectionContract::default();
    let contract = input
        .contract
        .sections
        .get(&page.section)
        .unwrap_or(&unknown);
    let known = |key: &str| {
        contract.sample_size == 0
            || contract
                .required_keys
                .iter()
                .chain(&contract.optional_keys)
                .any(|name| name == key)
    };
    let mut keys = vec!["title"];
    keys.extend(["description"].into_iter().filter(|key| known(key)));
    for key in contract.required_keys.iter().map(String::as_str) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let values: Vec<(String, Value)> = keys
        .into_iter()
        .map(|key| (key.to_owned(), value_of(key, page, contract, input)))
        .collect();
    frontmatter::write(Format::named(&contract.format), &values)
}

/// The value of one key, in the type its section has it in.
pub fn value_of(
    key: &str,
    page: &Page,
    contract: &SectionContract,
    input: &DraftInput<'_>,
) -> Value {
    let kind = contract
        .key_types
        .get(key)
        .map_or("unknown", String::as_str);
    let own = own_value(key, kind, page, input);
    let product = &input.material.facts().product_name;
    let default = contract
        .default_values
        .get(key)
        .filter(|value| !names_another(key, value, product))
        .cloned();
    // What distinguishes pages belongs to the page; what all pages share belongs to the section.
    let is_own = matches!(
        key.to_lowercase().as_str(),
        "title"
            | "linktitle"
            | "description"
            | "summary"
            | "slug"
            | "url"
            | "weight"
            | "draft"
            | "date"
            | "lastmod"
            | "publishdate"
    );
    let value = if is_own {
        own.or(default)
    } else {
        default.or(own)
    };
    value
        .and_then(|value| coerce(value, kind))
        .unwrap_or_else(|| empty(kind, input.date))
}

/// Whether a section's default is the name of another product than the page's. Another spelling
/// of the same name is the section's habit, and judged with the page.
fn names_another(key: &str, value: &Value, product: &str) -> bool {
    let plain = |name: &str| -> String {
        let letters = name.chars().filter(|c| c.is_alphanumeric());
        letters.flat_map(char::to_lowercase).collect()
    };
    matches!(key.to_lowercase().as_str(), "product" | "product_name")
        && value
            .as_str()
            .is_some_and(|name| plain(name) != plain(product))
}

fn own_value(key: &str, kind: &str, page: &Page, input: &DraftInput<'_>) -> Option<Value> {
    let facts = input.material.facts();
    Some(match key.to_lowercase().as_str() {
        "title" | "linktitle" => page.title.clone().into(),
        "description" | "summary" => description(page, input).into(),
        // Hugo ignores the slug of a list page; the file's own name would be a lie.
        "slug" if !plan::is_list_page(page) => page.slug.clone().into(),
        "url" => page.url_path.clone().into(),
        "weight" => weight(page, input).into(),
        "draft" => false.into(),
        "keywords" | "tags" => page.seo_keywords.clone().into(),
        "product" | "product_name" | "categories" => facts.product_name.clone().into(),
        "family" => facts.product_slug.clone().into(),
        "lang" | "language" | "locale" => page.locale.clone().into(),
        "canonical" | "canonicalurl" | "canonical_url" => {
            canonical_url(page, input.plan, input.canonical_urls)?.into()
        }
        _ if kind == "date" => input.date.into(),
        _ => return None,
    })
}

/// The canonical address of a page: the one its section is known by, and the page's place below
/// the section's list page. None where no address is known, and for translations, which the one
/// address does not name.
pub fn canonical_url(
    page: &Page,
    plan: &PagePlan,
    known: &BTreeMap<String, String>,
) -> Option<String> {
    let name = match page.section {
        Section::Products => "product",
        Section::Docs => "docs",
        Section::Reference => "reference",
        Section::Kb | Section::Blog => return None,
    };
    let base = known.get(name)?;
    if page.page_id.ends_with(&format!(".{}", page.locale)) {
        return None;
    }
    let lists = |other: &&Page| {
        plan::is_list_page(other) && (other.section, &other.locale) == (page.section, &page.locale)
    };
    let list = plan.pages.iter().find(lists)?;
    let below = page.url_path.strip_prefix(&list.url_path)?;
    Some(if below.is_empty() {
        base.clone()
    } else {
        format!(
            "{}/{}",
            base.trim_end_matches('/'),
            below.trim_start_matches('/')
        )
    })
}

/// A claim of the page, else the registered description of its role.
fn description(page: &Page, input: &DraftInput<'_>) -> String {
    // A page that says what the product is says it best; otherwise its first claim does.
    let positioning = input.material.facts().positioning_claim_id.as_ref();
    let ids = &page.required_claim_ids;
    let first = positioning
        .filter(|id| ids.contains(id))
        .into_iter()
        .chain(ids)
        .find_map(|id| input.material.claim(id));
    first.map_or_else(
        || {
            phrases::phrase(&format!(
                "description_{}",
                templates::role_name(page.page_role)
            ))
            .to_owned()
        },
        |claim| claim.claim_text.clone(),
    )
}

/// Ten times the page's place among those of its section and language.
fn weight(page: &Page, input: &DraftInput<'_>) -> u64 {
    let before = input
        .plan
        .pages
        .iter()
        .filter(|other| (other.section, &other.locale) == (page.section, &page.locale))
        .take_while(|other| other.page_id != page.page_id)
        .count();
    (before as u64 + 1) * 10
}

/// A value in a type, when it can be said in it.
fn coerce(value: Value, kind: &str) -> Option<Value> {
    match (kind, &value) {
        ("string", Value::Array(items)) => {
            let texts: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            Some(texts.join(", ").into())
        }
        ("array_string", Value::String(text)) => Some(vec![text.clone()].into()),
        ("string", Value::String(_))
        | ("integer" | "number", Value::Number(_))
        | ("boolean", Value::Bool(_))
        | ("array_string", Value::Array(_))
        | ("object", Value::Object(_)) => Some(value),
        ("string", other @ (Value::Number(_) | Value::Bool(_))) => Some(other.to_string().into()),
        ("date", Value::String(text)) if frontmatter::is_date(text) => Some(value),
        ("string" | "integer" | "number" | "boolean" | "array_string" | "object" | "date", _) => {
            None
        }
        _ => Some(value),
    }
}

/// Nothing, in a type: a key that pages of a section must have, and of which nothing is known.
fn empty(kind: &str, date: &str) -> Value {
    match kind {
        "integer" | "number" => 0.into(),
        "boolean" => false.into(),
        "array_string" => Value::Array(Vec::new()),
        "object" => Value::Object(serde_json::Map::new()),
        "date" => date.into(),
        _ => "".into(),
    }
}

#[cfg(test)]
#[path = "draft_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "length_tests.rs"]
mod length_tests;
