//! `docs/reference/errors.md` and one page per code.

use std::{collections::BTreeMap, path::PathBuf};

use windlass_engine::{contract::Contract, operation::OperationInfo};
use windlass_types::{Code, Kind, code};

use super::{BANNER, Document};

/// The contracts of operations by their numbers, in order.
type Contracts = BTreeMap<&'static str, &'static dyn Contract>;

pub(super) fn documents(infos: &[&OperationInfo]) -> Vec<Document> {
    let numbered = |info: &&OperationInfo| Some((info.contract.number()?, info.contract));
    let contracts: Contracts = infos.iter().filter_map(numbered).collect();
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
            page(code, &contracts),
        ));
    }
    documents.push((PathBuf::from("docs/reference/errors.md"), index));
    documents
}

fn page(code: &'static Code, contracts: &Contracts) -> String {
    let names: String = contracts
        .iter()
        .map(|(number, contract)| {
            format!(
                "| in contract {number} | `{}` |\n",
                contract.code_name(code)
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
