//! `docs/reference/errors.md` and one page per code.

use std::path::PathBuf;

use windlass_engine::envelope::Envelope;
use windlass_types::{Code, Kind, code};

use super::{BANNER, Document};

pub(super) fn documents() -> Vec<Document> {
    let mut index = format!("{BANNER}# Error codes\n\n");
    index.push_str(
        "Every failure a person or a client can see has one of these codes, on every surface.\n\n",
    );
    index.push_str("| code | kind | HTTP | exit | retry | meaning |\n|---|---|---|---|---|---|\n");
    let mut documents = Vec::new();
    for code in code::ALL {
        index.push_str(&format!(
            "| [`{name}`](errors/{name}.md) | {} | {} | {} | {} | {} |\n",
            kind(code.kind),
            code.http_status,
            code.exit_code,
            if code.retryable { "yes" } else { "no" },
            code.summary,
            name = code.name,
        ));
        documents.push((
            PathBuf::from(format!("docs/reference/errors/{}.md", code.name)),
            page(code),
        ));
    }
    documents.push((PathBuf::from("docs/reference/errors.md"), index));
    documents
}

fn page(code: &'static Code) -> String {
    let contract = |envelope: Envelope| format!("`{}`", envelope.code_name(code));
    format!(
        "{BANNER}# {}\n\n{}\n\n## What to do\n\n{}\n\n## Particulars\n\n\
         | | |\n|---|---|\n| kind | {} |\n| HTTP status | {} |\n| exit code | {} |\n| trying again unchanged | {} |\n\
         | in contract 000 | {} |\n| in contract 001 | {} |\n| in contract 003 | {} |\n| in contract 004 | {} |\n\n\
         [All codes](../errors.md)\n",
        code.name,
        code.summary,
        code.remedy,
        kind(code.kind),
        code.http_status,
        code.exit_code,
        if code.retryable {
            "may help"
        } else {
            "does not help"
        },
        contract(Envelope::Stack),
        contract(Envelope::Pipeline),
        contract(Envelope::Pack),
        contract(Envelope::Launch),
    )
}

const fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::User => "user",
        Kind::Config => "configuration",
        Kind::Policy => "policy",
        Kind::Upstream => "upstream",
        Kind::Internal => "internal",
    }
}
