//! `windlass errors`: what a code means and what to do about it. Needs no store.

use clap::Args;
use serde_json::json;
use windlass_engine::access::nearest;
use windlass_types::{Code, Problem, code};

use crate::{
    output::{Printer, Table, Tone},
    session::Report,
};

#[derive(Args, Debug)]
pub(crate) struct ErrorsArgs {
    /// The code, such as `CONFIRM_TOKEN_EXPIRED`; all codes when absent.
    #[arg(value_name = "CODE")]
    code: Option<String>,
}

impl ErrorsArgs {
    pub(crate) fn run(self, printer: &Printer) -> Result<Report, Problem> {
        let Some(name) = self.code else {
            let mut table = Table::new(&["CODE", "EXIT", "HTTP", "MEANING"]);
            for code in code::ALL {
                table.row([
                    code.name.to_owned(),
                    code.exit_code.to_string(),
                    code.http_status.to_string(),
                    code.summary.to_owned(),
                ]);
            }
            printer.table(&table);
            printer.hint("windlass errors CODE");
            return Ok(Report::new(
                format!("{} codes", code::ALL.len()),
                json!({ "codes": code::ALL }),
            ));
        };
        let found = find(&name)?;
        printer.data(&printer.paint().text(Tone::Strong, found.name));
        printer.data(found.summary);
        printer.data("");
        printer.data(found.remedy);
        printer.data("");
        printer.fields(&[
            ("exit code", found.exit_code.to_string()),
            ("http status", found.http_status.to_string()),
            (
                "try again unchanged",
                if found.retryable {
                    "may help"
                } else {
                    "does not help"
                }
                .to_owned(),
            ),
        ]);
        Ok(Report::new(found.summary, json!(found)))
    }
}

/// The code of that name, in any case.
fn find(name: &str) -> Result<&'static Code, Problem> {
    let wanted = name.to_ascii_uppercase().replace('-', "_");
    Code::by_name(&wanted).ok_or_else(|| {
        let problem = Problem::new(
            &code::NOT_FOUND,
            format!("no error code is called {name:?}"),
        );
        match nearest(&wanted, code::ALL.iter().map(|code| code.name)) {
            Some(near) => problem.next(format!("windlass errors {near}")),
            None => problem.next("windlass errors"),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::{Captured, Mode};

    #[test]
    fn a_code_is_explained() {
        let captured = Captured::new(Mode::Human);
        ErrorsArgs {
            code: Some("store-full".into()),
        }
        .run(&captured.printer)
        .unwrap();
        insta::assert_snapshot!(captured.stdout(), @"
        STORE_FULL
        The disk with the Windlass home is full; nothing was acknowledged that is not on disk.

        Free space (`windlass store prune` helps), then repeat. Unfinished runs continue by themselves.

        exit code            7
        http status          507
        try again unchanged  may help
        ");
    }

    #[test]
    fn an_unknown_code_names_the_nearest() {
        let problem = find("POLICY_DENYED").unwrap_err();
        assert_eq!(problem.next_actions(), ["windlass errors POLICY_DENIED"]);
        assert_eq!(
            find("zzzz").unwrap_err().next_actions(),
            ["windlass errors"]
        );
    }
}
