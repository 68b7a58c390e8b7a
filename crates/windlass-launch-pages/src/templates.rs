//! The embedded templates: one per role, and one that shows the content below a heading.
//!
//! A template arranges; it says nothing of its own but the phrases of `phrases.toml`.

use std::sync::LazyLock;

use minijinja::{Environment, UndefinedBehavior, syntax::SyntaxConfig, value::Serde, value::Value};
use serde::Serialize;
use windlass_launch_model::PageRole;
use windlass_types::Problem;

const VERSION: &str = "1";

const SOURCES: [(&str, &str); 8] = [
    ("landing.md.j2", include_str!("templates/landing.md.j2")),
    ("toc.md.j2", include_str!("templates/toc.md.j2")),
    (
        "comprehensive_guide.md.j2",
        include_str!("templates/comprehensive_guide.md.j2"),
    ),
    (
        "feature_showcase.md.j2",
        include_str!("templates/feature_showcase.md.j2"),
    ),
    ("reference.md.j2", include_str!("templates/reference.md.j2")),
    ("post.md.j2", include_str!("templates/post.md.j2")),
    ("article.md.j2", include_str!("templates/article.md.j2")),
    ("body.md.j2", include_str!("templates/body.md.j2")),
];

static ENVIRONMENT: LazyLock<Result<Environment<'static>, String>> =
    LazyLock::new(|| environment().map_err(|error| error.to_string()));

fn environment() -> Result<Environment<'static>, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_syntax(
        SyntaxConfig::builder()
            .trim_blocks(true)
            .lstrip_blocks(true)
            .build()?,
    );
    // A misspelt name must fail here, not print nothing on a user's site.
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    for (name, source) in SOURCES {
        environment.add_template(name, source)?;
    }
    Ok(environment)
}

/// The template sets that can be asked for, oldest first.
pub fn versions() -> impl Iterator<Item = &'static str> {
    [VERSION].into_iter()
}

/// Refuses a template set that is not embedded.
pub(crate) fn check_version(version: Option<&str>) -> Result<(), Problem> {
    match version {
        Some(asked) if asked != VERSION => Err(Problem::invalid(
            "/templates_version",
            "one of the embedded template sets",
            format!("there are no templates {asked:?}; there is {VERSION}"),
        )),
        _ => Ok(()),
    }
}

/// The word for a role in template and phrase names.
pub(crate) const fn role_name(role: PageRole) -> &'static str {
    match role {
        PageRole::Landing => "landing",
        PageRole::Toc => "toc",
        PageRole::ComprehensiveGuide => "comprehensive_guide",
        PageRole::FeatureShowcase => "feature_showcase",
        PageRole::Reference => "reference",
        PageRole::Post => "post",
        PageRole::Article => "article",
    }
}

/// The template of a role.
pub(crate) const fn name(role: PageRole) -> &'static str {
    match role {
        PageRole::Landing => "landing.md.j2",
        PageRole::Toc => "toc.md.j2",
        PageRole::ComprehensiveGuide => "comprehensive_guide.md.j2",
        PageRole::FeatureShowcase => "feature_showcase.md.j2",
        PageRole::Reference => "reference.md.j2",
        PageRole::Post => "post.md.j2",
        PageRole::Article => "article.md.j2",
    }
}

/// Fills a template.
pub(crate) fn render(template: &str, context: &impl Serialize) -> Result<String, Problem> {
    let environment = ENVIRONMENT
        .as_ref()
        .map_err(|error| Problem::internal("templates", error))?;
    let known = environment.get_template(template).map_err(|_| {
        Problem::internal("templates", format!("there is no template {template:?}"))
    })?;
    known
        .render(Value::from(Serde(context)))
        .map(|text| tidy(&text))
        .map_err(|error| Problem::internal("templates", format!("{template}: {error:#}")))
}

/// At most one blank line in a row, no spaces at line ends, one line break at the end. Code
/// stays as it is.
fn tidy(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        if let Some(open) = fence {
            clean.push_str(line);
            clean.push('\n');
            if line == open {
                fence = None;
            }
            continue;
        }
        let line = line.trim_end();
        if line.is_empty() && (clean.is_empty() || clean.ends_with("\n\n")) {
            continue;
        }
        let ticks = line.len() - line.trim_start_matches('`').len();
        if ticks >= 3 {
            fence = Some(&line[..ticks]);
        }
        clean.push_str(line);
        clean.push('\n');
    }
    clean.truncate(clean.trim_end().len());
    clean.push('\n');
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tidying_leaves_code_alone() {
        assert_eq!(
            tidy("\n\na  \n\n\n\n````py\nx  \n\n\n```\n````\n\n\nb\n\n"),
            "a\n\n````py\nx  \n\n\n```\n````\n\nb\n"
        );
    }

    #[test]
    fn an_unknown_version_is_refused() {
        assert!(check_version(Some("9")).is_err());
        for version in versions() {
            assert!(check_version(Some(version)).is_ok());
        }
    }
}
