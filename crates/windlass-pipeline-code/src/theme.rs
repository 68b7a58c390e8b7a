//! The design tokens as a theme: every colour a component uses, readable on what is behind it.

use windlass_pipeline_design::model::ux::DesignTokens;
use windlass_pipeline_design::model::{InputProblem, UxSpec};

use crate::colour::{self, Rgb};
use crate::escape::{comment, css_string};
use crate::names;

/// Colours that components use and the UX spec may set by role.
const SLOTS: [&str; 6] = [
    "surface",
    "muted",
    "border",
    "destructive",
    "header",
    "warning",
];

/// Colours that are read on others, by the names the UX spec has for them.
const READ_ON: [(&str, &str); 2] = [
    ("primary-foreground", "on_primary"),
    ("secondary-foreground", "on_secondary"),
];

/// Fonts with serifs, so that what stands in for them has serifs too.
const SERIFS: [&str; 10] = [
    "fraunces",
    "georgia",
    "lora",
    "merriweather",
    "noto serif",
    "playfair display",
    "pt serif",
    "source serif 4",
    "source serif pro",
    "times new roman",
];

/// A colour of the theme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ThemeColour {
    /// `primary`, behind `--color-`.
    pub(crate) name: String,
    /// As CSS.
    pub(crate) value: String,
    /// How the spec puts it, where it does.
    pub(crate) stated: Option<String>,
    /// Whether the UX spec has it; worked out otherwise.
    pub(crate) given: bool,
}

/// Refuses tokens that are no colours or sizes, because they are written into a style sheet.
pub(crate) fn check(ux: &UxSpec) -> Result<(), InputProblem> {
    let tokens = &ux.design_tokens;
    let base = "/ux_spec/design_tokens";
    let colors = &tokens.colors;
    let named = [
        ("primary", &colors.primary),
        ("secondary", &colors.secondary),
        ("background", &colors.background),
        ("text", &colors.text),
    ];
    for (name, value) in named {
        colour::check(value, &format!("{base}/colors/{name}"))?;
    }
    for (name, value) in &colors.more {
        colour::check(value, &format!("{base}/colors/{name}"))?;
    }
    for (name, value) in &tokens.typography.heading_sizes {
        check_size(value, &format!("{base}/typography/heading_sizes/{name}"))?;
    }
    check_size(&tokens.spacing.unit, &format!("{base}/spacing/unit"))
}

/// A size as number and unit.
pub(crate) fn size(text: &str) -> Option<(f64, &str)> {
    ["rem", "em", "px"].iter().find_map(|unit| {
        let number = text.trim().strip_suffix(unit)?;
        let value: f64 = number.parse().ok()?;
        (value.is_finite() && value > 0.0).then_some((value, *unit))
    })
}

fn check_size(text: &str, field: &str) -> Result<(), InputProblem> {
    if size(text).is_some() {
        return Ok(());
    }
    Err(InputProblem::new(
        field,
        "format",
        format!("{text:?} is no size; write a positive number with rem, em or px"),
    ))
}

/// All colours, in the order they are written.
pub(crate) fn colours(tokens: &DesignTokens) -> Vec<ThemeColour> {
    let colors = &tokens.colors;
    let background = Rgb::parse(&colors.background).unwrap_or(colour::WHITE);
    let text = Rgb::parse(&colors.text).unwrap_or_else(|| background.readable(colour::BLACK));
    let stated = |role: &str| {
        tokens
            .stated
            .iter()
            .find(|token| token.role == role)
            .map(|token| token.text.clone())
    };
    let given = |name: &str, role: &str, value: &str| ThemeColour {
        name: name.to_owned(),
        value: value.trim().to_owned(),
        stated: stated(role),
        given: true,
    };
    let derived = |name: &str, value: String| ThemeColour {
        name: name.to_owned(),
        value,
        stated: None,
        given: false,
    };
    let on = |value: &str| {
        Rgb::parse(value).map_or_else(
            || colors.background.clone(),
            |behind| behind.readable(background).hex(),
        )
    };
    let slot = |name: &str| {
        let others: &[&str] = match name {
            "destructive" => &["destructive", "error", "danger"],
            "surface" => &["surface", "card"],
            "header" => &["header", "navigation", "navbar", "sidebar"],
            "warning" => &["warning", "warnings", "caution"],
            _ => &[],
        };
        colors
            .more
            .iter()
            .find(|(role, _)| *role == name || others.contains(&role.as_str()))
            .map(|(role, value)| given(name, role, value))
    };
    let contrasting = |candidates: [&str; 2]| {
        candidates
            .into_iter()
            .find(|value| Rgb::parse(value).is_some_and(|one| one.contrast(background) >= 4.5))
            .map_or_else(|| text.hex(), str::to_owned)
    };
    let destructive = slot("destructive")
        .unwrap_or_else(|| derived("destructive", contrasting(["#B91C1C", "#FCA5A5"])));
    let warning =
        slot("warning").unwrap_or_else(|| derived("warning", contrasting(["#92400E", "#FCD34D"])));
    // Cards stand out a little from the page they lie on.
    let surface = slot("surface").unwrap_or_else(|| {
        let raised = if background.is_light() {
            colour::WHITE.over(background, 65)
        } else {
            text.over(background, 5)
        };
        derived("surface", raised.hex())
    });
    let header = slot("header").unwrap_or_else(|| derived("header", surface.value.clone()));
    let on_header = match Rgb::parse(&header.value) {
        Some(behind) if text.contrast(behind) >= 4.5 => text.hex(),
        _ => on(&header.value),
    };
    let read_on = |name: &str, role: &str, behind: &str| {
        colors.more.get(role).map_or_else(
            || derived(name, on(behind)),
            |value| given(name, role, value),
        )
    };
    let muted =
        slot("muted").unwrap_or_else(|| derived("muted", text.faded(background, 5, 1.0).hex()));
    // Quiet text is read on the page, on cards and on quiet areas.
    let behind: Vec<Rgb> = [&surface.value, &muted.value]
        .into_iter()
        .filter_map(|value| Rgb::parse(value))
        .chain([background])
        .collect();
    let quiet = (60..100)
        .step_by(5)
        .map(|percent| text.over(background, percent))
        .find(|quiet| behind.iter().all(|behind| quiet.contrast(*behind) >= 4.5))
        .unwrap_or(text);
    let primary = Rgb::parse(&colors.primary);
    let ring = primary
        .filter(|ring| ring.contrast(background) >= 3.0)
        .unwrap_or(text);
    let mut all = vec![
        given("background", "background", &colors.background),
        given("foreground", "text", &colors.text),
        given("primary", "primary", &colors.primary),
        read_on(READ_ON[0].0, READ_ON[0].1, &colors.primary),
        given("secondary", "secondary", &colors.secondary),
        read_on(READ_ON[1].0, READ_ON[1].1, &colors.secondary),
        surface,
        header,
        derived("header-foreground", on_header),
        muted,
        derived("muted-foreground", quiet.hex()),
        slot("border").unwrap_or_else(|| derived("border", text.faded(background, 15, 1.0).hex())),
        derived("border-strong", text.faded(background, 35, 3.0).hex()),
        derived("ring", ring.hex()),
        derived("destructive-foreground", on(&destructive.value)),
        destructive,
        warning,
    ];
    for (role, value) in &colors.more {
        let name = names::kebab(role, "");
        if READ_ON.iter().any(|(_, known)| known == role) {
            continue;
        }
        let taken = all.iter().any(|known| {
            known.name == name
                || known.value == *value && known.given && SLOTS.contains(&known.name.as_str())
        });
        if !name.is_empty() && !taken {
            all.push(given(&name, role, value));
        }
    }
    all
}

/// The members of `@theme`.
pub(crate) fn lines(tokens: &DesignTokens) -> Vec<String> {
    let mut lines = Vec::new();
    for colour in colours(tokens) {
        let note = colour.stated.map_or_else(String::new, |text| {
            format!(" /* stated: {} */", comment(&text))
        });
        lines.push(format!("--color-{}: {};{note}", colour.name, colour.value));
    }
    let family = &tokens.typography.font_family;
    let stack = fallback(family);
    lines.push(if is_inter(tokens) {
        format!("--font-sans: \"Inter Variable\", \"Inter\", {stack};")
    } else if family.trim().is_empty() {
        format!("--font-sans: {stack};")
    } else {
        format!("--font-sans: {}, {stack};", css_string(family))
    });
    if let Some(heading) = heading_font(tokens) {
        lines.push(format!(
            "--font-heading: {}, {};",
            css_string(heading),
            fallback(heading)
        ));
    }
    for (name, default) in [("h1", "2.25rem"), ("h2", "1.875rem"), ("h3", "1.5rem")] {
        let value = tokens
            .typography
            .heading_sizes
            .get(name)
            .map_or(default, String::as_str);
        lines.push(format!("--text-{name}: {};", value.trim()));
    }
    lines.push(format!("--spacing: {};", tokens.spacing.unit.trim()));
    lines
}

/// What stands in for a font that is not there.
fn fallback(family: &str) -> &'static str {
    if SERIFS.contains(&family.trim().to_lowercase().as_str()) {
        "ui-serif, Georgia, serif"
    } else {
        "ui-sans-serif, system-ui, sans-serif"
    }
}

/// The font of headings, where it is another one.
pub(crate) fn heading_font(tokens: &DesignTokens) -> Option<&str> {
    tokens
        .typography
        .heading_font_family
        .as_deref()
        .map(str::trim)
        .filter(|family| !family.is_empty())
}

/// Whether the font comes as a package.
pub(crate) fn is_inter(tokens: &DesignTokens) -> bool {
    tokens
        .typography
        .font_family
        .trim()
        .eq_ignore_ascii_case("inter")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tokens(background: &str, text: &str, more: &serde_json::Value) -> DesignTokens {
        let mut colors = json!({
            "primary": "#0F766E", "secondary": "#B45309", "background": background, "text": text,
        });
        for (role, value) in more.as_object().into_iter().flatten() {
            colors[role] = value.clone();
        }
        serde_json::from_value(json!({
            "colors": colors,
            "typography": { "font_family": "Inter", "heading_sizes": {} },
            "spacing": { "unit": "0.25rem", "scale": [1] },
        }))
        .unwrap()
    }

    fn colour(all: &[ThemeColour], name: &str) -> Rgb {
        let found = all.iter().find(|colour| colour.name == name);
        Rgb::parse(&found.unwrap().value).unwrap()
    }

    #[test]
    fn whatever_is_behind_it_text_can_be_read() {
        for (background, text) in [
            ("#FFFFFF", "#111827"),
            ("#FFFFF0", "#1A1A1A"),
            ("#D3D3D3", "#000000"),
            ("#111827", "#F9FAFB"),
            ("#000000", "#FFFFFF"),
        ] {
            for more in [
                json!({}),
                json!({ "header": "#000080" }),
                json!({ "header": "#FFD700" }),
            ] {
                let all = colours(&tokens(background, text, &more));
                for (front, behind) in [
                    ("foreground", "background"),
                    ("foreground", "surface"),
                    ("muted-foreground", "background"),
                    ("muted-foreground", "surface"),
                    ("muted-foreground", "muted"),
                    ("header-foreground", "header"),
                    ("primary-foreground", "primary"),
                    ("secondary-foreground", "secondary"),
                    ("destructive-foreground", "destructive"),
                    ("warning", "background"),
                ] {
                    let ratio = colour(&all, front).contrast(colour(&all, behind));
                    assert!(
                        ratio >= 4.5,
                        "{front} on {behind} of {background}: {ratio:.2}"
                    );
                }
            }
        }
    }

    #[test]
    fn stated_places_get_their_colours_and_fonts() {
        let mut given = tokens(
            "#FFFFFF",
            "#111827",
            &json!({ "sidebar": "#000080", "warnings": "#B45309", "on_primary": "#FFFFFF" }),
        );
        given.typography.heading_font_family = Some("Fraunces".to_owned());
        let lines = lines(&given);
        for wanted in [
            "--color-header: #000080;",
            "--color-header-foreground: #FFFFFF;",
            "--color-warning: #B45309;",
            "--color-primary-foreground: #FFFFFF;",
            "--font-sans: \"Inter Variable\", \"Inter\", ui-sans-serif, system-ui, sans-serif;",
            "--font-heading: \"Fraunces\", ui-serif, Georgia, serif;",
        ] {
            assert!(
                lines.iter().any(|line| line == wanted),
                "{wanted}\n{lines:#?}"
            );
        }
        assert!(!lines.iter().any(|line| line.contains("on-primary")));
    }
}
