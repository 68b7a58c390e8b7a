//! The embedded templates. A template arranges; what it is given is decided and escaped in Rust.
//!
//! Delimiters are `{= value =}` and `<% statement %>`, which neither TypeScript nor SQL nor CSS has.

use std::sync::LazyLock;

use minijinja::{Environment, UndefinedBehavior, syntax::SyntaxConfig, value::Serde, value::Value};
use serde::Serialize;

use crate::escape;

/// Names the files below `templates/` and embeds them.
macro_rules! embedded {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("templates/", $name)))),*]
    };
}

const SOURCES: &[(&str, &str)] = embedded![
    "code/capabilities.tsx",
    "code/client.ts",
    "code/database.types.ts",
    "code/detail.tsx",
    "code/form.tsx",
    "code/links.tsx",
    "code/list.tsx",
    "code/route.ts",
    "code/rows.ts",
    "code/schema.ts",
    "code/sign-in-options.tsx",
    "code/sign-in.tsx",
    "code/site.ts",
    "code/stats.tsx",
    "code/styles.css",
    "code/view.tsx",
    "docs/README.md",
    "docs/setup.md",
    "next/eslint.config.mjs",
    "next/layout.tsx",
    "next/lib/environment.ts",
    "next/lib/http.ts",
    "next/lib/navigation.tsx",
    "next/lib/supabase.ts",
    "next/next.config.ts",
    "next/not-found.tsx",
    "next/page.tsx",
    "next/postcss.config.mjs",
    "next/proxy.ts",
    "next/redirect.tsx",
    "next/server/no-socket.ts",
    "next/server/respond.ts",
    "next/server/supabase.ts",
    "next/vitest.config.ts",
    "shared/layout/app-shell.tsx",
    "shared/layout/page-layout.tsx",
    "shared/lib/auth-options.ts",
    "shared/lib/auth.ts",
    "shared/lib/errors.ts",
    "shared/lib/form.ts",
    "shared/lib/format.ts",
    "shared/lib/use-resource.ts",
    "shared/lib/utils.ts",
    "shared/ui/alert.tsx",
    "shared/ui/badge.tsx",
    "shared/ui/button.tsx",
    "shared/ui/card.tsx",
    "shared/ui/checkbox.tsx",
    "shared/ui/empty-state.tsx",
    "shared/ui/error-state.tsx",
    "shared/ui/field.tsx",
    "shared/ui/input.tsx",
    "shared/ui/label.tsx",
    "shared/ui/select.tsx",
    "shared/ui/skeleton.tsx",
    "shared/ui/table.tsx",
    "shared/ui/textarea.tsx",
    "sql/migration.sql",
    "sql/seed.sql",
    "tests/api.test.ts",
    "tests/backend.ts",
    "tests/data.test.ts",
    "tests/migration.test.ts",
    "tests/navigation.tsx",
    "tests/page.test.tsx",
    "tests/pages.test.ts",
    "tests/routes.test.tsx",
    "tests/samples.ts",
    "tests/server.ts",
    "tests/shell.test.tsx",
    "tests/tokens.test.ts",
    "vite/App.tsx",
    "vite/NotFoundPage.tsx",
    "vite/eslint.config.js",
    "vite/index.html",
    "vite/lib/navigation.tsx",
    "vite/lib/supabase.ts",
    "vite/main.tsx",
    "vite/vite-env.d.ts",
    "vite/vite.config.ts",
];

static ENVIRONMENT: LazyLock<Result<Environment<'static>, String>> =
    LazyLock::new(|| environment().map_err(|error| error.to_string()));

/// Makes text safe for one place.
type Filter = fn(&str) -> String;

fn environment() -> Result<Environment<'static>, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_syntax(
        SyntaxConfig::builder()
            .block_delimiters("<%", "%>")
            .variable_delimiters("{=", "=}")
            .comment_delimiters("<#", "#>")
            .trim_blocks(true)
            .lstrip_blocks(true)
            .keep_trailing_newline(true)
            .build()?,
    );
    // A misspelt name must fail here, not print nothing into a user's code.
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    let filters: [(&'static str, Filter); 9] = [
        ("ts", escape::ts_string),
        ("jsx", escape::jsx_text),
        ("attr", escape::jsx_attribute),
        ("comment", escape::comment),
        ("html", escape::html),
        ("sql", escape::sql_string),
        ("md", escape::markdown),
        ("code", escape::markdown_code),
        ("name", escape::sql_name),
    ];
    for (name, filter) in filters {
        environment.add_filter(name, move |text: &str| filter(text));
    }
    for (name, source) in SOURCES {
        environment.add_template(name, source)?;
    }
    Ok(environment)
}

/// A template that could not be filled: always a mistake of ours.
#[derive(Debug, thiserror::Error)]
#[error("template {template}: {cause}")]
pub struct TemplateError {
    /// Which one.
    pub template: String,
    /// Why.
    pub cause: String,
}

/// Fills a template.
pub(crate) fn render(template: &str, context: &impl Serialize) -> Result<String, TemplateError> {
    let failed = |cause: String| TemplateError {
        template: template.to_owned(),
        cause,
    };
    let environment = ENVIRONMENT
        .as_ref()
        .map_err(|error| failed(error.clone()))?;
    environment
        .get_template(template)
        .and_then(|known| known.render(Value::from(Serde(context))))
        .map(|text| tidy(&text))
        .map_err(|error| failed(format!("{error:#}")))
}

/// A file that is the same in every project.
pub(crate) fn verbatim(template: &str) -> Option<&'static str> {
    SOURCES
        .iter()
        .find(|(name, _)| *name == template)
        .map(|(_, source)| *source)
}

/// No white space at line ends, no two blank lines in a row, one line break at the end.
fn tidy(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for line in text.lines() {
        let line = line.trim_end();
        if line.is_empty() && (clean.is_empty() || clean.ends_with("\n\n")) {
            continue;
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
    fn every_template_is_sound() {
        let environment = environment().unwrap();
        assert_eq!(environment.templates().count(), SOURCES.len());
    }

    #[test]
    fn text_is_tidied() {
        assert_eq!(tidy("\n\na  \n\n\n\nb\n\n"), "a\n\nb\n");
    }
}
