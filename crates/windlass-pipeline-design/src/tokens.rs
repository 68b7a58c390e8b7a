//! Design tokens: stated ones as they are, the rest from a style, readable where nobody decided.

use std::collections::BTreeMap;

use crate::contrast;
use crate::model::analysis::Analysis;
use crate::model::naming;
use crate::model::ux::{Colors, Contrast, DesignTokens, Spacing, StatedToken, Typography};
use crate::style::{self, StyleMatch, StyleSet};
use crate::traces;

/// The font that every generated project brings along.
const FONT: &str = "Inter";

/// The style that is wanted: the caller's word, else the spec's, else `minimal`. Also where from.
pub(crate) fn wanted_style(analysis: &Analysis, preference: Option<&str>) -> (String, StyleMatch) {
    if let Some(text) = preference.map(str::trim).filter(|text| !text.is_empty()) {
        return (text.to_owned(), style::resolve(text));
    }
    let stated = analysis
        .styles
        .iter()
        .map(|stated| (stated, style::resolve(&stated.text)))
        .find(|(_, found)| found.known);
    match stated {
        Some((stated, found)) => (stated.text.clone(), found),
        None => (String::new(), style::resolve("minimal")),
    }
}

fn pair(foreground: &str, background: &str, required: f64) -> Option<Contrast> {
    Some(Contrast {
        foreground: foreground.to_owned(),
        background: background.to_owned(),
        ratio: contrast::ratio(foreground, background)?,
        required,
        passes: contrast::reaches(foreground, background, required),
    })
}

/// The stated colours by role; a second one for the same role gets a number.
fn stated_colours(analysis: &Analysis) -> BTreeMap<String, String> {
    let mut colours = BTreeMap::new();
    for colour in &analysis.colours {
        let role = naming::snake(&colour.role);
        let role = if role.is_empty() {
            "accent".to_owned()
        } else {
            role
        };
        if colours.get(&role) == Some(&colour.value) {
            continue;
        }
        let mut name = role.clone();
        let mut number = 2;
        while colours.contains_key(&name) {
            name = format!("{role}_{number}");
            number += 1;
        }
        colours.insert(name, colour.value.clone());
    }
    colours
}

/// An unstated accent that contrasts with the background: the style's, else another style's.
fn accent(own: &'static str, all: impl Iterator<Item = &'static str>, background: &str) -> String {
    let mut candidates = vec![own];
    candidates.extend(all);
    contrast::readable(&candidates, background, contrast::LARGE).to_owned()
}

fn colours(analysis: &Analysis, set: &StyleSet) -> Colors {
    let mut more = stated_colours(analysis);
    let background = more.remove("background");
    let text = more.remove("text");
    let background = match (background, &text) {
        (Some(background), _) => background,
        (None, Some(text)) => {
            contrast::readable(&[set.background, "#FFFFFF"], text, contrast::TEXT).to_owned()
        }
        (None, None) => set.background.to_owned(),
    };
    let text = text
        .unwrap_or_else(|| contrast::readable(&[set.text], &background, contrast::TEXT).to_owned());
    let primary = more.remove("primary").unwrap_or_else(|| {
        accent(
            set.primary,
            style::SETS.iter().map(|set| set.primary),
            &background,
        )
    });
    let secondary = more.remove("secondary").unwrap_or_else(|| {
        accent(
            set.secondary,
            style::SETS.iter().map(|set| set.secondary),
            &background,
        )
    });
    for (role, colour) in [("on_primary", &primary), ("on_secondary", &secondary)] {
        let readable =
            contrast::readable(&["#FFFFFF", &text, &background], colour, contrast::TEXT).to_owned();
        more.entry(role.to_owned()).or_insert(readable);
    }
    Colors {
        primary,
        secondary,
        background,
        text,
        more,
    }
}

/// Which of the stated fonts is for text and which for headings, when they are distinguished by
/// what stands before them: `headings in the font Fraunces and body text in Inter`.
fn fonts(analysis: &Analysis) -> (Option<usize>, Option<usize>) {
    let for_headings = |at: &usize| {
        let font = &analysis.fonts[*at];
        analysis
            .spans
            .iter()
            .filter(|span| font.spans.contains(&span.id))
            .any(|span| {
                let before = span.text.split(&font.text).next().unwrap_or_default();
                let before = before.to_lowercase();
                let heading = before.rfind("heading").or_else(|| before.rfind("title"));
                heading.is_some_and(|heading| {
                    ["body", "text", "everything else"]
                        .iter()
                        .filter_map(|word| before.rfind(word))
                        .all(|other| other < heading)
                })
            })
    };
    let all = || 0..analysis.fonts.len();
    let heading = if analysis.fonts.len() > 1 {
        all().find(for_headings)
    } else {
        None
    };
    (all().find(|at| Some(*at) != heading), heading)
}

/// All tokens.
pub(crate) fn tokens(analysis: &Analysis, preference: Option<&str>) -> DesignTokens {
    let (_, found) = wanted_style(analysis, preference);
    let set = found.set;
    let colors = colours(analysis, set);
    let mut stated: Vec<StatedToken> = analysis
        .colours
        .iter()
        .map(|colour| StatedToken {
            text: colour.text.clone(),
            role: colour.role.clone(),
            value: colour.value.clone(),
            trace: traces::of_spans(&colour.spans),
        })
        .collect();
    let (body, heading) = fonts(analysis);
    for (at, font) in analysis.fonts.iter().enumerate() {
        stated.push(StatedToken {
            text: font.text.clone(),
            role: match at {
                _ if heading == Some(at) => "heading font",
                _ if body == Some(at) => "font",
                _ => "second font",
            }
            .to_owned(),
            value: font.text.clone(),
            trace: traces::of_spans(&font.spans),
        });
    }
    for style in &analysis.styles {
        stated.push(StatedToken {
            text: style.text.clone(),
            role: "style".to_owned(),
            value: style.text.clone(),
            trace: traces::of_spans(&style.spans),
        });
    }
    let on = |role: &str| colors.more.get(role).cloned().unwrap_or_default();
    let contrast = [
        pair(&colors.text, &colors.background, contrast::TEXT),
        pair(&on("on_primary"), &colors.primary, contrast::TEXT),
        pair(&on("on_secondary"), &colors.secondary, contrast::TEXT),
        pair(&colors.primary, &colors.background, contrast::LARGE),
        pair(&colors.secondary, &colors.background, contrast::LARGE),
    ]
    .into_iter()
    .flatten()
    .collect();
    DesignTokens {
        colors,
        typography: Typography {
            font_family: body.map_or_else(|| FONT.to_owned(), |at| analysis.fonts[at].text.clone()),
            heading_font_family: heading.map(|at| analysis.fonts[at].text.clone()),
            heading_sizes: ["h1", "h2", "h3"]
                .into_iter()
                .zip(set.headings)
                .map(|(level, size)| (level.to_owned(), size.to_owned()))
                .collect(),
        },
        spacing: Spacing {
            unit: "0.25rem".to_owned(),
            scale: set.scale.to_vec(),
        },
        stated,
        contrast,
    }
}
