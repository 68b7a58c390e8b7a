//! `windlass ops list`.

use clap::Args;
use serde_json::json;
use windlass_engine::{access::nearest, operation::OperationInfo};
use windlass_types::{EffectClass, Problem, code};

use crate::{
    output::{Table, Tone, counted},
    session::{Report, Session},
};

#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    /// Only operations of this toolset.
    #[arg(long, value_name = "NAME")]
    toolset: Option<String>,
}

impl ListArgs {
    pub(crate) fn run(self, session: &Session) -> Result<Report, Problem> {
        let catalogue = session.catalogue();
        if let Some(toolset) = &self.toolset {
            known_toolset(&catalogue.toolsets(), toolset)?;
        }
        let shown: Vec<&OperationInfo> = catalogue
            .operations()
            .filter(|info| {
                self.toolset
                    .as_ref()
                    .is_none_or(|toolset| *toolset == info.toolset)
            })
            .collect();
        let mut table = Table::new(&["OPERATION", "EFFECT", "FLOW", "TITLE"]);
        for info in &shown {
            table.toned_row([
                (Tone::Plain, info.name.clone()),
                (effect_tone(info.effect), info.effect.as_str().to_owned()),
                (Tone::Dim, info.flow.as_str().to_owned()),
                (Tone::Plain, info.title.clone()),
            ]);
        }
        session.printer.table(&table);
        session.printer.hint("windlass ops describe OPERATION");
        Ok(Report::new(
            counted(shown.len(), "operation"),
            json!({ "operations": shown }),
        ))
    }
}

pub(super) const fn effect_tone(effect: EffectClass) -> Tone {
    match effect {
        EffectClass::Read => Tone::Good,
        EffectClass::Write => Tone::Warn,
        EffectClass::Destructive => Tone::Bad,
    }
}

/// Refuses an unknown toolset, naming the one that was probably meant.
pub(crate) fn known_toolset(toolsets: &[&str], name: &str) -> Result<(), Problem> {
    if toolsets.contains(&name) {
        return Ok(());
    }
    let message = match nearest(name, toolsets.iter().copied()) {
        Some(near) => format!("no toolset is called {name:?}; did you mean {near:?}?"),
        None => format!(
            "no toolset is called {name:?}; there are {}",
            toolsets.join(", ")
        ),
    };
    Err(Problem::new(&code::NOT_FOUND, message)
        .with("toolset", name)
        .next("windlass ops list"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_toolset_names_the_nearest() {
        let toolsets = ["admin", "demo", "runs"];
        assert!(known_toolset(&toolsets, "runs").is_ok());
        let near = known_toolset(&toolsets, "rnus").unwrap_err();
        assert_eq!(
            near.message(),
            "no toolset is called \"rnus\"; did you mean \"runs\"?"
        );
        let far = known_toolset(&toolsets, "zzz").unwrap_err();
        assert_eq!(
            far.message(),
            "no toolset is called \"zzz\"; there are admin, demo, runs"
        );
    }
}
