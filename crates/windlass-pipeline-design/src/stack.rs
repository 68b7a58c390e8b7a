//! What a preset is built with, in the exact versions of the one table.

use crate::model::analysis::Analysis;
use crate::model::architecture::{FieldType, Stack};
use crate::model::{Preset, versions};

/// A part of the stack: name, version, purpose, reason.
pub(crate) struct Part {
    pub(crate) name: &'static str,
    pub(crate) package: &'static str,
    pub(crate) purpose: &'static str,
    pub(crate) reason: &'static str,
}

impl Part {
    pub(crate) fn version(&self) -> &'static str {
        versions::version(self.package)
    }
}

const fn part(
    name: &'static str,
    package: &'static str,
    purpose: &'static str,
    reason: &'static str,
) -> Part {
    Part {
        name,
        package,
        purpose,
        reason,
    }
}

const NEXT: &[Part] = &[part(
    "Next.js",
    "next",
    "routing, rendering, API routes",
    "pages and API in one deployable project",
)];

const VITE: &[Part] = &[
    part(
        "Vite",
        "vite",
        "development server and build",
        "a static bundle that any host serves",
    ),
    part(
        "React Router",
        "react-router-dom",
        "routing in the browser",
        "nested routes without a server",
    ),
];

const SHARED: &[Part] = &[
    part(
        "React",
        "react",
        "user interface",
        "components from the UX specification",
    ),
    part(
        "TypeScript",
        "typescript",
        "types, strict",
        "database types from the same model as the SQL",
    ),
    part(
        "Tailwind CSS",
        "tailwindcss",
        "styles",
        "design tokens as theme variables",
    ),
    part(
        "supabase-js",
        "@supabase/supabase-js",
        "data and sign-in",
        "row-level security applies to every request",
    ),
    part(
        "Zod",
        "zod",
        "input checks",
        "one schema per endpoint, from the model",
    ),
    part(
        "Vitest",
        "vitest",
        "tests",
        "runs the same TypeScript as the build",
    ),
];

/// The parts of a preset, the framework first.
pub(crate) fn parts(preset: Preset) -> impl Iterator<Item = &'static Part> {
    let framework = match preset {
        Preset::NextjsReact => NEXT,
        Preset::ViteReact => VITE,
    };
    framework.iter().chain(SHARED)
}

/// Whether files are kept: an image or attachment is a stated field or an integration says so.
pub(crate) fn keeps_files(analysis: &Analysis) -> bool {
    analysis
        .integrations
        .iter()
        .any(|one| one.kind == "storage")
        || analysis.entities.iter().any(|entity| {
            entity.fields.iter().any(|field| {
                matches!(field.kind, FieldType::String | FieldType::Text)
                    && ["image", "photo", "picture", "avatar", "file", "attachment"]
                        .iter()
                        .any(|word| field.name.split('_').any(|part| part == *word))
            })
        })
}

/// What works with the outside and therefore needs code that users cannot reach.
pub(crate) fn needs_functions(analysis: &Analysis) -> bool {
    analysis
        .integrations
        .iter()
        .any(|one| !matches!(one.kind.as_str(), "storage" | "search"))
}

/// The three lines of the contract.
pub(crate) fn stack(analysis: &Analysis, preset: Preset) -> Stack {
    let version = versions::version;
    let framework = match preset {
        Preset::NextjsReact => format!("Next.js {}", version("next")),
        Preset::ViteReact => format!("Vite {}", version("vite")),
    };
    let mut services = vec!["PostgreSQL", "Auth"];
    if keeps_files(analysis) {
        services.push("Storage");
    }
    if needs_functions(analysis) {
        services.push("Edge Functions");
    }
    Stack {
        frontend: format!(
            "{framework} + React {} + TypeScript {} + Tailwind CSS {}",
            version("react"),
            version("typescript"),
            version("tailwindcss")
        ),
        backend: format!(
            "Supabase ({}) through supabase-js {}",
            services.join(" + "),
            version("@supabase/supabase-js")
        ),
        deployment: match preset {
            Preset::NextjsReact => "Vercel".to_owned(),
            Preset::ViteReact => "Static hosting (Vercel, Netlify or any web server)".to_owned(),
        },
    }
}
