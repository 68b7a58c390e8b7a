//! The content below each heading of a page, ready for its template.
//!
//! Lists of symbols, values and code can be shortened, so that a page keeps to its budget of lines;
//! the page then says so. Statements are never dropped here: how many a page has is planned.

use std::collections::BTreeSet;

use serde::Serialize;
use windlass_launch_model::{Page, Snippet, claim, facts::ApiSymbol};

use crate::{draft::DraftInput, links, markup, phrases::phrase, ruleset::BlockKind};

/// More symbols than this belong in generated documentation.
const MOST_SYMBOLS: usize = 200;

/// One heading and the content below it.
#[derive(Serialize)]
pub(crate) struct Block {
    title: String,
    kind: BlockKind,
    lead: &'static str,
    /// Sentences, each with its marker.
    claims: Vec<String>,
    /// Inline code.
    codes: Vec<String>,
    /// Symbols and their places, as inline code.
    rows: Vec<Row>,
    examples: Vec<Example>,
    links: Vec<LinkItem>,
    parts: Vec<Part>,
    empty: bool,
    /// There is more than is shown.
    shortened: bool,
}

#[derive(Serialize)]
struct Row {
    symbol: String,
    place: String,
    /// What goes last is dropped first.
    #[serde(skip)]
    rank: usize,
}

#[derive(Serialize)]
struct Example {
    source: String,
    language: String,
    fence: String,
    code: String,
}

#[derive(Serialize)]
struct LinkItem {
    title: String,
    href: String,
}

#[derive(Serialize)]
struct Part {
    title: String,
    claims: Vec<String>,
}

/// The blocks of a page, in the order of its headings.
pub(crate) fn blocks(page: &Page, input: &DraftInput<'_>) -> Vec<Block> {
    let required: BTreeSet<&str> = page.required_claim_ids.iter().map(String::as_str).collect();
    let mut used = BTreeSet::new();
    page.required_headings
        .iter()
        .filter_map(|heading| Some((heading, input.ruleset.block(heading)?)))
        .map(|(heading, kind)| block(heading, kind, page, input, &required, &mut used))
        .collect()
}

fn block<'a>(
    heading: &str,
    kind: BlockKind,
    page: &'a Page,
    input: &DraftInput<'a>,
    required: &BTreeSet<&str>,
    used: &mut BTreeSet<&'a str>,
) -> Block {
    let scenarios = &page.content_strategy.scenario_coverage;
    let (rows, left_out) = rows(kind, input);
    let mut block = Block {
        title: markup::heading_text(heading),
        kind,
        lead: lead(kind),
        claims: Vec::new(),
        codes: codes(kind, input),
        rows,
        examples: Vec::new(),
        links: link_items(kind, page, input),
        parts: Vec::new(),
        empty: false,
        shortened: left_out,
    };
    match kind {
        BlockKind::Workflows => {
            block.parts = scenarios
                .iter()
                .map(|name| part(name, page, input, required))
                .collect();
            block.shortened = scenarios.len() < input.material.facts().workflows.len();
        }
        BlockKind::Example => {
            let snippets = input.material.snippets_of(&page.required_snippet_tags);
            block.examples = snippets.into_iter().map(example).collect();
        }
        _ => {
            let ids = input.material.claims_of(kind, scenarios);
            let fresh = ids
                .into_iter()
                .filter(|id| required.contains(id) && used.insert(id));
            block.claims = fresh.filter_map(|id| sentence(id, input)).collect();
            // A command that a sentence gives is not listed once more.
            let given = |code: &String| {
                let code = code.split(" <!--").next().unwrap_or_default();
                block.claims.iter().any(|claim| claim.contains(code))
            };
            let codes = std::mem::take(&mut block.codes);
            block.codes = codes.into_iter().filter(|code| !given(code)).collect();
        }
    }
    block.empty = block.claims.is_empty()
        && block.codes.is_empty()
        && block.rows.is_empty()
        && block.examples.is_empty()
        && block.links.is_empty()
        && block.parts.is_empty();
    block
}

/// Drops this many lines of what the page lists, always from the longest list, as far as there are
/// lists. False when there is nothing to drop.
pub(crate) fn shorten(blocks: &mut [Block], mut lines: usize) -> bool {
    let mut dropped = false;
    while lines > 0 {
        let longest = blocks.iter_mut().max_by_key(|block| block.listed());
        let Some(block) = longest.filter(|block| block.listed() > 0) else {
            break;
        };
        lines = lines.saturating_sub(block.drop_one());
        dropped = true;
    }
    dropped
}

impl Block {
    /// The lines of its lists.
    fn listed(&self) -> usize {
        let examples: usize = self.examples.iter().map(Example::lines).sum();
        self.rows.len() + self.codes.len() + examples
    }

    /// Drops the entry that matters least, and says how many lines it had.
    fn drop_one(&mut self) -> usize {
        self.shortened = true;
        let longest = (0..self.examples.len()).max_by_key(|at| self.examples[*at].lines());
        if let Some(at) = longest {
            return self.examples.remove(at).lines();
        }
        let last = (0..self.rows.len()).max_by_key(|at| self.rows[*at].rank);
        if let Some(at) = last {
            self.rows.remove(at);
        } else {
            self.codes.pop();
        }
        1
    }
}

impl Example {
    /// With its lead, its source, the fences and what parts them.
    fn lines(&self) -> usize {
        self.code.lines().count() + 7
    }
}

fn sentence(id: &str, input: &DraftInput<'_>) -> Option<String> {
    let claim = input.material.claim(id)?;
    Some(markup::cited(&claim.claim_text, &claim.claim_id))
}

/// A workflow of a guide. A claim may serve several workflows, so none is used up.
fn part(name: &str, page: &Page, input: &DraftInput<'_>, required: &BTreeSet<&str>) -> Part {
    let plain = markup::title_with(name, &input.material.facts().product_name);
    // No two headings of a page may be the same.
    let title = if page.required_headings.contains(&plain) {
        format!("{plain} workflow")
    } else {
        plain
    };
    let ids = input
        .material
        .claims_of(BlockKind::WorkflowSteps, &[name.to_owned()]);
    Part {
        title: markup::heading_text(&title),
        claims: ids
            .into_iter()
            .filter(|id| required.contains(id))
            .filter_map(|id| sentence(id, input))
            .collect(),
    }
}

fn lead(kind: BlockKind) -> &'static str {
    match kind {
        BlockKind::Install => phrase("lead_install"),
        BlockKind::Formats => phrase("lead_formats"),
        BlockKind::Requirements => phrase("lead_requirements"),
        BlockKind::Dependencies => phrase("lead_dependencies"),
        BlockKind::License => phrase("lead_license"),
        BlockKind::Example => phrase("lead_example"),
        BlockKind::Children => phrase("lead_children"),
        BlockKind::SeeAlso => phrase("lead_see_also"),
        _ => "",
    }
}

/// Values shown as code, each with the claim it is quoted from. One without a claim is left out.
fn codes(kind: BlockKind, input: &DraftInput<'_>) -> Vec<String> {
    let values = input.material.values(kind).into_iter();
    values
        .filter(|(value, _)| is_safe_code(value))
        .map(|(value, claim_id)| {
            format!("{} {}", markup::code_span(value), claim::marker(claim_id))
        })
        .collect()
}

/// The symbols of a block in the order of the facts, and whether some were left out.
fn rows(kind: BlockKind, input: &DraftInput<'_>) -> (Vec<Row>, bool) {
    let api = &input.material.facts().api_surface_summary;
    let symbols: &[ApiSymbol] = match kind {
        BlockKind::Modules => &api.modules,
        BlockKind::Classes => &api.classes,
        BlockKind::Functions => &api.functions,
        _ => &[],
    };
    let cell = |text: &str| markup::code_span(text).replace('|', "\\|");
    let mut showable: Vec<(usize, &ApiSymbol)> = symbols
        .iter()
        .filter(|symbol| is_safe_code(&symbol.name) && is_safe_code(&symbol.path))
        .enumerate()
        .collect();
    let all = showable.len();
    // What is documented matters more than what is not, and what lies near the root of the code
    // more than what lies deep in it.
    showable.sort_by_key(|(at, symbol)| {
        let parts = symbol
            .name
            .split(['.', ':', '/'])
            .filter(|part| !part.is_empty());
        let folders = symbol.path.matches('/').count();
        (symbol.summary.is_none(), parts.count(), folders, *at)
    });
    showable.truncate(MOST_SYMBOLS);
    let mut rows: Vec<(usize, Row)> = showable
        .into_iter()
        .enumerate()
        .map(|(rank, (at, symbol))| {
            let row = Row {
                symbol: cell(&symbol.name),
                place: cell(&format!("{}:{}", symbol.path, symbol.line)),
                rank,
            };
            (at, row)
        })
        .collect();
    rows.sort_by_key(|(at, _)| *at);
    let left_out = rows.len() < all;
    (rows.into_iter().map(|(_, row)| row).collect(), left_out)
}

/// Whether something can be shown as inline code without a site generator acting on it.
fn is_safe_code(text: &str) -> bool {
    !text.trim().is_empty() && !text.contains("{{") && !text.chars().any(char::is_control)
}

fn example(snippet: &Snippet) -> Example {
    let source = &snippet.source;
    let place = format!("{}:{}-{}", source.path, source.start_line, source.end_line);
    let code = snippet.code.trim_end_matches(['\n', '\r']).to_owned();
    let named = !snippet.language.is_empty()
        && snippet
            .language
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+#-_.".contains(&byte));
    Example {
        source: markup::code_span(&place),
        language: if named {
            snippet.language.clone()
        } else {
            "text".to_owned()
        },
        fence: markup::fence(&code),
        code,
    }
}

fn link_items(kind: BlockKind, page: &Page, input: &DraftInput<'_>) -> Vec<LinkItem> {
    let ids = match kind {
        BlockKind::Children => &page.content_strategy.child_pages,
        BlockKind::SeeAlso => &page.cross_links,
        _ => return Vec::new(),
    };
    let mut items: Vec<LinkItem> = ids
        .iter()
        .filter_map(|id| input.plan.pages.iter().find(|other| other.page_id == *id))
        .map(|other| LinkItem {
            title: markup::heading_text(&other.title),
            href: links::href(page, other, input.site_kind),
        })
        .collect();
    // A local folder or an SSH address is nothing a reader could open.
    let repository = &input.material.facts().repo_url;
    if kind == BlockKind::SeeAlso && is_public(repository) {
        items.push(LinkItem {
            title: "Source repository".to_owned(),
            href: repository.clone(),
        });
    }
    items
}

fn is_public(address: &str) -> bool {
    address.starts_with("https://")
        && !address.contains(|character: char| {
            character.is_whitespace()
                || matches!(character, '@' | '(' | ')' | '<' | '>' | '{' | '}')
        })
}
