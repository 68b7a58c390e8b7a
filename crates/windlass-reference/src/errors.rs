//! `docs/reference/errors.md` and one page per code.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use windlass_engine::{contract::Contract, operation::OperationInfo};
use windlass_types::{Code, Kind, code};

use super::{BANNER, Document};

/// A contract with names of its own for codes, and the capabilities that answer by it.
struct Dialect<'a> {
    capabilities: BTreeSet<&'a str>,
    contract: &'static dyn Contract,
}

fn dialects<'a>(infos: &[&'a OperationInfo]) -> Vec<Dialect<'a>> {
    let mut found: BTreeMap<&'static str, Dialect<'a>> = BTreeMap::new();
    for info in infos {
        let Some(number) = info.contract.number() else {
            continue;
        };
        let capability = info.name.split('.').next().unwrap_or_default();
        let dialect = found.entry(number).or_insert_with(|| Dialect {
            capabilities: BTreeSet::new(),
            contract: info.contract,
        });
        dialect.capabilities.insert(capability);
    }
    let mut dialects: Vec<_> = found.into_values().collect();
    dialects.sort_by(|left, right| left.capabilities.cmp(&right.capabilities));
    dialects
}

pub(super) fn documents(infos: &[&OperationInfo]) -> Vec<Document> {
    let dialects = dialects(infos);
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
            page(code, &dialects),
        ));
    }
    documents.push((PathBuf::from("docs/reference/errors.md"), index));
    documents
}

fn page(code: &'static Code, dialects: &[Dialect<'_>]) -> String {
    let names: String = dialects
        .iter()
        .map(|dialect| {
            let capabilities: Vec<String> = dialect
                .capabilities
                .iter()
                .map(|name| format!("`{name}`"))
                .collect();
            format!(
                "| in answers of {} | `{}` |\n",
                capabilities.join(" and "),
                dialect.contract.code_name(code)
            )
        })
        .collect();
    format!(
        "{BANNER}# {}\n\n{}\n\n## What to do\n\n{}\n\n## Particulars\n\n\
         | | |\n|---|---|\n| kind | {} |\n| HTTP status | {} |\n| exit code | {} |\n| trying again unchanged | {} |\n\
         {names}\n[All codes](../errors.md)\n",
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
