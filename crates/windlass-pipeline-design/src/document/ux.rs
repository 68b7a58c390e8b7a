//! The UX document.

use super::markdown::{Document, code, text};
use super::{diagram, ids};
use crate::contrast;
use crate::model::analysis::{Analysis, SpanClass};
use crate::model::strategy::{Category, Priority};
use crate::model::ux::{DesignTokens, UxPage, UxSpec};
use crate::model::{Requirements, Trace, naming};
use crate::tokens::wanted_style;

/// The whole document.
pub fn ux_markdown(
    analysis: &Analysis,
    requirements: &Requirements,
    ux: &UxSpec,
    style: Option<&str>,
) -> String {
    let product = analysis
        .product
        .as_ref()
        .map_or("Product", |product| product.text.as_str());
    let mut doc = Document::new(&format!("{product}: UX specification"));
    personas(&mut doc, analysis);
    goals(&mut doc, requirements, ux);
    doc.section("Sitemap");
    doc.block("mermaid", &diagram::sitemap(ux));
    navigation(&mut doc, ux);
    flows(&mut doc, analysis, ux);
    pages(&mut doc, ux);
    component_list(&mut doc, ux);
    stated_design(&mut doc, analysis, style);
    palette(&mut doc, &ux.design_tokens);
    type_and_spacing(&mut doc, &ux.design_tokens);
    accessibility(&mut doc, requirements, &ux.design_tokens);
    breakpoints_and_motion(&mut doc);
    requirement_table(&mut doc, requirements, ux);
    doc.finish()
}

fn personas(doc: &mut Document, analysis: &Analysis) {
    doc.section("Personas");
    let rows = analysis
        .roles
        .iter()
        .map(|role| {
            let does: Vec<String> = analysis
                .statements
                .iter()
                .filter(|statement| {
                    statement.actor.as_deref() == Some(&role.name)
                        && statement.priority != Priority::Wont
                        && !statement.negated
                })
                .map(|statement| text(&statement.text))
                .collect();
            vec![
                text(&naming::sentence(&role.name)),
                if does.is_empty() {
                    "nothing is stated".to_owned()
                } else {
                    does.join("; ")
                },
            ]
        })
        .collect();
    doc.table(
        &["role", "what the spec says they do"],
        rows,
        "The spec names no roles.",
    );
}

fn goals(doc: &mut Document, requirements: &Requirements, ux: &UxSpec) {
    doc.section("Goals");
    doc.list(
        ux.user_flows
            .iter()
            .map(|flow| format!("{} ({})", text(&flow.name), ids(&flow.trace))),
    );
    let usable: Vec<String> = requirements
        .non_functional
        .iter()
        .filter(|one| matches!(one.category, Category::Usability | Category::Accessibility))
        .map(|one| format!("{}: {}", one.id, text(&one.description)))
        .collect();
    doc.list(usable);
}

fn navigation(doc: &mut Document, ux: &UxSpec) {
    doc.section("Navigation");
    doc.paragraph("Pages without an id in their route are in the main navigation; the others are reached from the page above them.");
    doc.list(
        ux.pages
            .iter()
            .filter(|page| !page.route.contains('{'))
            .map(|page| format!("{} ({})", text(&page.name), code(&page.route))),
    );
}

fn flows(doc: &mut Document, analysis: &Analysis, ux: &UxSpec) {
    doc.section("User flows");
    if ux.user_flows.is_empty() {
        doc.paragraph("The spec states no behaviour, so there is no flow.");
    }
    for flow in &ux.user_flows {
        doc.subsection(&flow.name);
        let entry = flow.steps.first().map_or("", String::as_str);
        let success = flow
            .steps
            .last()
            .and_then(|step| step.strip_prefix("Success: "))
            .unwrap_or_default();
        doc.list([
            format!("Goal: {}", text(success)),
            format!("Entry: {}", text(entry)),
            format!("Requirements: {}", ids(&flow.trace)),
        ]);
        doc.numbered(flow.steps.iter().map(|step| text(step)));
        let edges: Vec<String> = analysis
            .statements
            .iter()
            .filter(|statement| {
                flow.trace
                    .contains(&Trace::requirement(&statement.requirement))
            })
            .filter_map(|statement| {
                if statement.negated {
                    Some(format!("Refused: {}", text(&statement.text)))
                } else {
                    statement
                        .condition
                        .as_ref()
                        .map(|condition| format!("Only {}", text(condition)))
                }
            })
            .collect();
        if !edges.is_empty() {
            doc.paragraph("Edge cases:");
            doc.list(edges);
        }
    }
}

/// How a page behaves, by its kind.
fn interaction(page: &UxPage) -> &'static str {
    match page.kind.as_str() {
        "list" => "choosing a row opens it; the list keeps its place when one comes back",
        "detail" => "actions are buttons; one that cannot be undone asks first",
        "form" => {
            "fields are checked when they are left and when the form is sent; what was typed is kept after an error"
        }
        "sign-in" => "after signing in one is where one wanted to go",
        "landing" | "dashboard" => "every part leads to the page it is about",
        _ => "actions are buttons that say what they do",
    }
}

fn pages(doc: &mut Document, ux: &UxSpec) {
    doc.section("Pages");
    for page in &ux.pages {
        doc.subsection(&page.name);
        let why: Vec<&str> = page.trace.iter().map(Trace::as_str).collect();
        doc.list([
            format!("Purpose: {}", text(&page.purpose)),
            format!(
                "Route: {}; layout {}",
                code(&page.route),
                page.layout.name()
            ),
            format!("Elements: {}", page.components.join(", ")),
            format!("Interaction: {}", interaction(page)),
            format!("From {}", why.join(", ")),
        ]);
        doc.table(
            &["state", "what is shown"],
            page.states
                .iter()
                .map(|state| {
                    let shown = match state.as_str() {
                        "loading" => "the layout with placeholders, announced to screen readers",
                        "empty" => "one sentence on what will be here and, where allowed, the action that makes the first one",
                        "error" => "what went wrong, and a way to try again",
                        _ => "as stated",
                    };
                    vec![text(state), shown.to_owned()]
                })
                .collect(),
            "No states.",
        );
    }
}

fn component_list(doc: &mut Document, ux: &UxSpec) {
    doc.section("Components");
    doc.paragraph(&format!(
        "Built in the style of {}; their source is part of the project.",
        text(&ux.component_library)
    ));
    let mut names: Vec<&str> = Vec::new();
    for name in ux.pages.iter().flat_map(|page| &page.components) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let rows = names
        .into_iter()
        .map(|name| {
            let (variants, states) = if name.ends_with("Button") {
                (
                    "primary, destructive",
                    "default, hover, focus, disabled, busy",
                )
            } else if name.ends_with("Form") {
                ("one column", "default, invalid, sending, sent, failed")
            } else if name.ends_with("List") {
                ("cards, rows", "loading, empty, filled, failed")
            } else {
                ("default", "loading, empty, filled, failed")
            };
            let used: Vec<String> = ux
                .pages
                .iter()
                .filter(|page| page.components.iter().any(|one| one == name))
                .map(|page| text(&page.name))
                .collect();
            vec![
                code(name),
                used.join(", "),
                variants.to_owned(),
                states.to_owned(),
            ]
        })
        .collect();
    doc.table(&["component", "pages", "variants", "states"], rows, "None.");
}

fn stated_design(doc: &mut Document, analysis: &Analysis, style: Option<&str>) {
    doc.section("Style");
    let (wanted, found) = wanted_style(analysis, style);
    let sentence = if wanted.is_empty() {
        format!(
            "No style is stated; unstated tokens come from the set {}.",
            found.set.name
        )
    } else if found.known {
        format!(
            "Wanted: {}. Unstated tokens come from the set {}.",
            text(&wanted),
            found.set.name
        )
    } else {
        format!(
            "Wanted: {}. No set has that name; unstated tokens come from the nearest one, {}.",
            text(&wanted),
            found.set.name
        )
    };
    doc.paragraph(&sentence);
    let stated: Vec<String> = analysis
        .spans
        .iter()
        .filter(|span| span.class == SpanClass::Design)
        .map(|span| format!("{}: {}", span.id, text(&span.text)))
        .collect();
    if !stated.is_empty() {
        doc.paragraph("What the spec says about the design:");
        doc.list(stated);
    }
}

fn palette(doc: &mut Document, tokens: &DesignTokens) {
    doc.section("Palette");
    let colors = &tokens.colors;
    let mut rows = Vec::new();
    let named = [
        ("primary", &colors.primary, "buttons, links"),
        ("secondary", &colors.secondary, "accents"),
        ("background", &colors.background, "behind everything"),
        ("text", &colors.text, "what is read"),
    ];
    let more = colors
        .more
        .iter()
        .map(|(role, value)| (role.as_str(), value, "as stated or derived"));
    for (role, value, usage) in named.into_iter().chain(more) {
        let stated = tokens
            .stated
            .iter()
            .find(|token| naming::snake(&token.role) == role && token.value == *value);
        let ratio = if role == "background" {
            "–".to_owned()
        } else {
            contrast::ratio(value, &colors.background)
                .map_or_else(|| "–".to_owned(), |ratio| format!("{ratio}:1"))
        };
        rows.push(vec![
            text(role),
            code(value),
            stated.map_or_else(|| "default".to_owned(), |token| text(&token.text)),
            usage.to_owned(),
            ratio,
        ]);
    }
    doc.table(
        &[
            "role",
            "value",
            "stated as",
            "use",
            "contrast on the background",
        ],
        rows,
        "",
    );
    doc.table(
        &["stated", "for", "value"],
        tokens
            .stated
            .iter()
            .map(|token| vec![text(&token.text), text(&token.role), text(&token.value)])
            .collect(),
        "The spec states no tokens.",
    );
}

fn type_and_spacing(doc: &mut Document, tokens: &DesignTokens) {
    doc.section("Type scale");
    doc.paragraph(&format!("Font: {}.", text(&tokens.typography.font_family)));
    let mut rows: Vec<Vec<String>> = tokens
        .typography
        .heading_sizes
        .iter()
        .map(|(level, size)| vec![level.clone(), size.clone(), "1.2".to_owned()])
        .collect();
    rows.push(vec!["body".to_owned(), "1rem".to_owned(), "1.5".to_owned()]);
    doc.table(&["level", "size", "line height"], rows, "");
    doc.section("Spacing");
    let steps: Vec<String> = tokens.spacing.scale.iter().map(u32::to_string).collect();
    doc.paragraph(&format!(
        "Unit {}; steps {}.",
        tokens.spacing.unit,
        steps.join(", ")
    ));
}

fn accessibility(doc: &mut Document, requirements: &Requirements, tokens: &DesignTokens) {
    doc.section("Accessibility");
    doc.paragraph("Target: WCAG 2.2 AA.");
    doc.table(
        &["pair", "ratio", "needed", "result"],
        tokens
            .contrast
            .iter()
            .map(|pair| {
                vec![
                    format!("{} on {}", code(&pair.foreground), code(&pair.background)),
                    format!("{}:1", pair.ratio),
                    format!("{}:1", pair.required),
                    if pair.passes {
                        "passes"
                    } else {
                        "fails; kept because it is stated"
                    }
                    .to_owned(),
                ]
            })
            .collect(),
        "",
    );
    doc.list([
        "Text reaches 4.5:1, large text and parts of the interface 3:1.".to_owned(),
        "Focus is always visible and follows the reading order.".to_owned(),
        "Every field has a label, every icon button a name, every error is tied to its field."
            .to_owned(),
        "Every page has one main landmark, one first heading and a link that skips to the content."
            .to_owned(),
        "Targets are at least 24 by 24 CSS pixels.".to_owned(),
    ]);
    let stated: Vec<String> = requirements
        .non_functional
        .iter()
        .filter(|one| one.category == Category::Accessibility)
        .map(|one| format!("{}: {}", one.id, text(&one.description)))
        .collect();
    doc.list(stated);
}

fn breakpoints_and_motion(doc: &mut Document) {
    doc.section("Breakpoints");
    doc.table(
        &["name", "from", "layout"],
        [
            ("base", "0", "one column; the navigation is a menu"),
            ("sm", "40rem", "one column, wider margins"),
            ("md", "48rem", "two columns where the layout has them"),
            ("lg", "64rem", "the sidebar is always open"),
            ("xl", "80rem", "content stops growing"),
        ]
        .map(|row| <[&str; 3]>::from(row).map(str::to_owned).to_vec())
        .to_vec(),
        "",
    );
    doc.section("Motion");
    doc.paragraph("Transitions of colour and opacity, at most 150 ms. Nothing moves when reduced motion is asked for.");
}

fn requirement_table(doc: &mut Document, requirements: &Requirements, ux: &UxSpec) {
    doc.section("Requirements and pages");
    doc.table(
        &["requirement", "as stated", "pages"],
        requirements
            .functional
            .iter()
            .map(|one| {
                let wanted = Trace::requirement(&one.id);
                let pages: Vec<String> = ux
                    .pages
                    .iter()
                    .filter(|page| page.trace.contains(&wanted))
                    .map(|page| text(&page.name))
                    .collect();
                vec![
                    one.id.clone(),
                    text(&one.description),
                    if one.priority == Priority::Wont {
                        "out of scope".to_owned()
                    } else {
                        pages.join(", ")
                    },
                ]
            })
            .collect(),
        "There are no functional requirements.",
    );
}
