//! The style sheet and `design-tokens.json`, from the same tokens.

use serde::Serialize;
use serde_json::{Map, Value, json};
use windlass_pipeline_design::model::trace::rule;
use windlass_pipeline_design::model::{Preset, Trace};

use super::Draft;
use crate::blueprint::Blueprint;
use crate::colour::Rgb;
use crate::templates::{TemplateError, render};
use crate::theme;

#[derive(Serialize)]
struct Context {
    inter: bool,
    heading_font: bool,
    theme: Vec<String>,
}

/// The path of the style sheet.
pub(super) const fn path(preset: Preset) -> &'static str {
    match preset {
        Preset::NextjsReact => "src/app/globals.css",
        Preset::ViteReact => "src/index.css",
    }
}

fn colour_value(text: &str) -> Value {
    let Some(colour) = Rgb::parse(text) else {
        return json!(text);
    };
    let component = |part: u8| f64::from(part) / 255.0;
    let hex = colour.hex();
    let parts: Vec<f64> = (0..3)
        .filter_map(|at| u8::from_str_radix(hex.get(1 + at * 2..3 + at * 2)?, 16).ok())
        .map(|part| (component(part) * 10_000.0).round() / 10_000.0)
        .collect();
    json!({ "colorSpace": "srgb", "components": parts, "hex": text.trim() })
}

fn dimension(text: &str) -> Value {
    theme::size(text).map_or_else(
        || json!(text),
        |(value, unit)| json!({ "value": value, "unit": unit }),
    )
}

fn tokens(blueprint: &Blueprint<'_>) -> Value {
    let tokens = &blueprint.ux.design_tokens;
    let mut core = Map::new();
    let mut semantic = Map::new();
    for colour in theme::colours(tokens) {
        let mut token = json!({ "$type": "color", "$value": colour_value(&colour.value) });
        if let Some(stated) = &colour.stated {
            token["$description"] =
                json!(format!("Stated as: {}", crate::escape::one_line(stated)));
        }
        core.insert(colour.name, token);
    }
    let alias =
        |target: &str| json!({ "$type": "color", "$value": format!("{{core.color.{target}}}") });
    for (name, target) in [
        ("page", "background"),
        ("page-text", "foreground"),
        ("quiet-text", "muted-foreground"),
        ("action", "primary"),
        ("action-text", "primary-foreground"),
        ("second-action", "secondary"),
        ("danger", "destructive"),
        ("focus", "ring"),
        ("control-border", "border-strong"),
    ] {
        semantic.insert(name.to_owned(), alias(target));
    }
    let of = |target: &str| json!({ "$type": "color", "$value": format!("{{semantic.color.{target}}}") });
    let sizes: Map<String, Value> = tokens
        .typography
        .heading_sizes
        .iter()
        .map(|(name, size)| {
            (
                name.clone(),
                json!({ "$type": "dimension", "$value": dimension(size) }),
            )
        })
        .collect();
    let family = |name: &str| json!({ "$type": "fontFamily", "$value": [crate::escape::one_line(name), "system-ui", "sans-serif"] });
    let mut fonts = json!({ "sans": family(&tokens.typography.font_family) });
    if let Some(heading) = theme::heading_font(tokens) {
        fonts["heading"] = family(heading);
    }
    let unit = theme::size(&tokens.spacing.unit);
    let steps: Map<String, Value> = tokens
        .spacing
        .scale
        .iter()
        .filter_map(|step| {
            let (value, name) = unit?;
            let token = json!({
                "$type": "dimension",
                "$value": { "value": value * f64::from(*step), "unit": name },
            });
            Some((step.to_string(), token))
        })
        .collect();
    json!({
        "core": {
            "color": core,
            "font": fonts,
            "heading": sizes,
            "space": steps,
        },
        "semantic": { "color": semantic },
        "component": {
            "button": { "background": of("action"), "text": of("action-text"), "focus": of("focus") },
            "input": { "border": of("control-border"), "focus": of("focus") },
            "alert": { "border": of("danger") },
        },
    })
}

pub(super) fn add(blueprint: &Blueprint<'_>, files: &mut Vec<Draft>) -> Result<(), TemplateError> {
    let tokens_given = &blueprint.ux.design_tokens;
    let mut trace: Vec<Trace> = tokens_given
        .stated
        .iter()
        .flat_map(|token| token.trace.iter().cloned())
        .collect();
    trace.push(Trace::default_rule(rule::DESIGN_TOKENS));
    let context = Context {
        inter: theme::is_inter(tokens_given),
        heading_font: theme::heading_font(tokens_given).is_some(),
        theme: theme::lines(tokens_given),
    };
    files.push(Draft::feature(
        path(blueprint.preset).to_owned(),
        render("code/styles.css", &context)?,
        &trace,
    ));
    let mut content = serde_json::to_string_pretty(&tokens(blueprint)).unwrap_or_default();
    content.push('\n');
    files.push(Draft::feature(
        "design-tokens.json".to_owned(),
        content,
        &trace,
    ));
    Ok(())
}
