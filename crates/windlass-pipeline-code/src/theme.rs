//! The design tokens as a theme: every colour a component uses, readable on what is behind it.

use windlass_pipeline_model::ux::DesignTokens;
use windlass_pipeline_model::{InputProblem, UxSpec};

use crate::colour::{self, Rgb};
use crate::escape::{comment, css_string};
use crate::names;

/// Colours that components use and the UX spec may set by role.
const SLOTS: [&str; 4] = ["surface", "muted", "border", "destructive"];

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
            _ => &[],
        };
        colors
            .more
            .iter()
            .find(|(role, _)| *role == name || others.contains(&role.as_str()))
            .map(|(role, value)| given(name, role, value))
    };
    let warning = ["#B91C1C", "#FCA5A5"]
        .into_iter()
        .find(|value| Rgb::parse(value).is_some_and(|red| red.contrast(background) >= 4.5))
        .map_or_else(|| text.hex(), str::to_owned);
    let destructive = slot("destructive").unwrap_or_else(|| derived("destructive", warning));
    let primary = Rgb::parse(&colors.primary);
    let ring = primary
        .filter(|ring| ring.contrast(background) >= 3.0)
        .unwrap_or(text);
    let mut all = vec![
        given("background", "background", &colors.background),
        given("foreground", "text", &colors.text),
        given("primary", "primary", &colors.primary),
        derived("primary-foreground", on(&colors.primary)),
        given("secondary", "secondary", &colors.secondary),
        derived("secondary-foreground", on(&colors.secondary)),
        slot("surface").unwrap_or_else(|| derived("surface", background.hex())),
        slot("muted").unwrap_or_else(|| derived("muted", text.faded(background, 5, 1.0).hex())),
        derived("muted-foreground", text.faded(background, 60, 4.5).hex()),
        slot("border").unwrap_or_else(|| derived("border", text.faded(background, 15, 1.0).hex())),
        derived("border-strong", text.faded(background, 35, 3.0).hex()),
        derived("ring", ring.hex()),
        derived("destructive-foreground", on(&destructive.value)),
        destructive,
    ];
    for (role, value) in &colors.more {
        let name = names::kebab(role, "");
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
    let stack = "ui-sans-serif, system-ui, sans-serif";
    lines.push(if is_inter(tokens) {
        format!("--font-sans: \"Inter Variable\", \"Inter\", {stack};")
    } else if family.trim().is_empty() {
        format!("--font-sans: {stack};")
    } else {
        format!("--font-sans: {}, {stack};", css_string(family))
    });
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

/// Whether the font comes as a package.
pub(crate) fn is_inter(tokens: &DesignTokens) -> bool {
    tokens
        .typography
        .font_family
        .trim()
        .eq_ignore_ascii_case("inter")
}
