//! Stated colours, names and numbers, and where in the outputs they are found as they are.

use crate::model::Analysis;
use crate::model::coverage::Verbatim;
use crate::quality::outputs::Outputs;

/// How many places are named.
const PLACES: usize = 8;

/// What has to be found, with the spans that state it.
pub(crate) fn stated(analysis: &Analysis) -> Vec<(&'static str, &str, &[String])> {
    let mut all: Vec<(&'static str, &str, &[String])> = Vec::new();
    for one in &analysis.colours {
        all.push(("colour", &one.text, &one.spans));
    }
    if let Some(product) = &analysis.product {
        all.push(("name", &product.text, &product.spans));
    }
    for one in analysis.names.iter().chain(&analysis.fonts) {
        all.push(("name", &one.text, &one.spans));
    }
    for one in &analysis.numbers {
        all.push(("number", &one.text, &one.spans));
    }
    let mut seen = Vec::new();
    all.retain(|(kind, text, _)| {
        let new = !text.trim().is_empty() && !seen.contains(&(*kind, *text));
        seen.push((*kind, *text));
        new
    });
    all
}

/// The texts of the outputs, each with its place.
fn texts(outputs: &Outputs<'_>) -> Vec<(String, String)> {
    let mut texts = Vec::new();
    let requirements = outputs.requirements;
    for one in &requirements.functional {
        let text = format!("{}\n{}", one.description, one.acceptance.join("\n"));
        texts.push((format!("req:{}", one.id), text));
    }
    for one in &requirements.non_functional {
        let metric = one.metric.as_deref().unwrap_or_default();
        let text = format!("{}\n{metric}", one.description);
        texts.push((format!("req:{}", one.id), text));
    }
    for one in &requirements.constraints {
        texts.push((format!("req:{}", one.id), one.description.clone()));
    }
    if let Some(ux) = outputs.ux {
        for page in &ux.pages {
            let text = format!("{}\n{}", page.name, page.purpose);
            texts.push((format!("page:{}", page.name), text));
        }
        for token in &ux.design_tokens.stated {
            let text = format!("{}\n{}", token.text, token.value);
            texts.push((format!("token:{}", token.role), text));
        }
    }
    for (place, text) in [
        ("strategy_summary", outputs.strategy_summary),
        ("architecture_markdown", outputs.architecture_markdown),
        ("ux_markdown", outputs.ux_markdown),
    ] {
        if let Some(text) = text {
            texts.push((place.to_owned(), text.to_owned()));
        }
    }
    for file in outputs.files.unwrap_or_default() {
        texts.push((format!("file:{}", file.path), file.content.clone()));
    }
    texts
}

/// Where everything stated is found.
pub(crate) fn verbatim(outputs: &Outputs<'_>) -> Vec<Verbatim> {
    let texts = texts(outputs);
    stated(outputs.analysis)
        .into_iter()
        .map(|(kind, text, _)| Verbatim {
            text: text.to_owned(),
            kind: kind.to_owned(),
            found_in: texts
                .iter()
                .filter(|(_, content)| content.contains(text))
                .map(|(place, _)| place.clone())
                .take(PLACES)
                .collect(),
        })
        .collect()
}
