//! Mermaid diagrams: entities, how the system hangs together, how a call goes, where pages lead.

use std::fmt::Write as _;

use crate::model::Preset;
use crate::model::analysis::Analysis;
use crate::model::architecture::{Architecture, Endpoint, RelationType};
use crate::model::naming;
use crate::model::ux::UxSpec;

/// A label: nothing that ends or opens something in Mermaid.
fn label(raw: &str) -> String {
    raw.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .map(|c| match c {
            '"' | '\'' | ';' | '#' | '<' | '>' | '{' | '}' | '|' | '[' | ']' | '(' | ')' | '`' => {
                ' '
            }
            c => c,
        })
        .collect::<String>()
        .trim()
        .to_owned()
}

/// A name that a diagram takes: letters, digits, underscores.
fn name(raw: &str) -> String {
    let name: String = raw
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    if name.is_empty() {
        "_".to_owned()
    } else {
        name
    }
}

/// Entities, keys and relationships.
pub(super) fn entities(architecture: &Architecture) -> String {
    let mut out = "erDiagram\n".to_owned();
    for entity in &architecture.data_model.entities {
        let _ = writeln!(out, "  {} {{", name(&entity.name));
        for field in &entity.fields {
            let key = if field.primary {
                " PK"
            } else if field.references.is_some() {
                " FK"
            } else if field.unique {
                " UK"
            } else {
                ""
            };
            let kind = format!("{:?}", field.kind).to_lowercase();
            let _ = writeln!(out, "    {kind} {}{key}", name(&field.name));
        }
        out.push_str("  }\n");
    }
    for relation in &architecture.data_model.relationships {
        let (line, verb) = match relation.kind {
            RelationType::OneToOne => ("||--o|", "has"),
            RelationType::OneToMany => ("||--o{", "has"),
            RelationType::ManyToMany => ("}o--o{", "relates"),
        };
        let _ = writeln!(
            out,
            "  {} {line} {} : {verb}",
            name(&relation.from),
            name(&relation.to)
        );
    }
    out
}

/// Browser, API, Supabase and what is outside.
pub(super) fn system(analysis: &Analysis, preset: Preset) -> String {
    let mut out = "flowchart LR\n  user([User]) --> app[Browser: React pages]\n".to_owned();
    match preset {
        Preset::NextjsReact => {
            out.push_str("  app --> api[Next.js API routes]\n  api --> auth[Supabase Auth]\n  api --> db[(PostgreSQL with row-level security)]\n");
        }
        Preset::ViteReact => {
            out.push_str("  app --> data[Data modules]\n  data --> auth[Supabase Auth]\n  data --> db[(PostgreSQL with row-level security)]\n");
        }
    }
    for (at, integration) in analysis.integrations.iter().enumerate() {
        let _ = writeln!(out, "  db --> x{at}[{}]", label(&integration.text));
    }
    out
}

/// One call: who asks, what is checked, what comes back.
pub(super) fn call(endpoint: &Endpoint, preset: Preset) -> String {
    let who = if endpoint.auth.is_empty() || endpoint.auth == "authenticated" {
        "User".to_owned()
    } else if endpoint.auth == "public" {
        "Visitor".to_owned()
    } else {
        naming::title(&endpoint.auth)
    };
    let middle = match preset {
        Preset::NextjsReact => "API route",
        Preset::ViteReact => "Data module",
    };
    let mut out = format!(
        "sequenceDiagram\n  actor U as {}\n  participant P as Page\n  participant A as {middle}\n  participant D as PostgreSQL\n",
        label(&who)
    );
    let _ = writeln!(out, "  U->>P: {}", label(&endpoint.description));
    let _ = writeln!(
        out,
        "  P->>A: {} {}",
        endpoint.method,
        label(&endpoint.path.replace("{id}", ":id"))
    );
    if !endpoint.request.is_empty() {
        out.push_str("  A->>A: check the input\n");
    }
    out.push_str("  A->>D: statement as the signed-in user\n  D->>D: row-level policies\n  D-->>A: rows or a refusal\n");
    let answer = if endpoint.response.is_empty() {
        "done".to_owned()
    } else {
        label(&endpoint.response.replace("[]", " list"))
    };
    let _ = writeln!(out, "  A-->>P: {answer} or an error\n  P-->>U: result");
    out
}

/// Signing in.
pub(super) fn sign_in() -> &'static str {
    "sequenceDiagram\n  actor U as User\n  participant P as Sign-in page\n  participant S as Supabase Auth\n  participant D as PostgreSQL\n  U->>P: credentials\n  P->>S: sign in\n  S-->>P: session with a token\n  P->>D: requests carry the token\n  D->>D: auth.uid is the user's id in every policy"
}

/// The first page and what can be reached from it.
pub(super) fn sitemap(ux: &UxSpec) -> String {
    let mut out = "flowchart TD\n".to_owned();
    let index = |route: &str| ux.pages.iter().position(|page| page.route == route);
    for (at, page) in ux.pages.iter().enumerate() {
        let _ = writeln!(
            out,
            "  p{at}[\"{} {}\"]",
            label(&page.name),
            page.route.replace("{id}", ":id")
        );
    }
    let home = index("/").unwrap_or(0);
    for (at, page) in ux.pages.iter().enumerate() {
        if at == home {
            continue;
        }
        // A page below another one is reached from it, any other from the first page.
        let mut above = page.route.as_str();
        let mut parent = home;
        while let Some((front, _)) = above.rsplit_once('/') {
            if let Some(found) = index(front).filter(|found| *found != at) {
                parent = found;
                break;
            }
            above = front;
        }
        let _ = writeln!(out, "  p{parent} --> p{at}");
    }
    out
}
