//! Whether the functions that a statement's names stand for may be called: the names against the
//! server's catalogue. Pure; the catalogue is read by each engine.

use windlass_ports::database::{DatabaseFailure, FunctionCall, FunctionCheck, Notation, SqlEngine};

/// More functions of the names than this are not looked at.
pub(crate) const MOST: usize = 2_000;

/// A function of the catalogue that bears one of the names.
#[derive(Clone, Debug, Default)]
pub struct Candidate {
    /// Its schema; in MySQL its database.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// Its arguments, as messages show them.
    pub arguments: String,
    /// Whether a name without a schema can mean it.
    pub visible: bool,
    /// Whether the catalogue says that it changes nothing.
    pub only_reads: bool,
    /// Whether the server came with it.
    pub of_server: bool,
    /// Whether an extension brought it.
    pub of_extension: bool,
    /// Whether it can be called with one argument.
    pub takes_one: bool,
    /// Whether its first argument can be a row.
    pub takes_row: bool,
}

/// Refuses if a name could mean a function that may not be called.
pub fn judge(
    engine: SqlEngine,
    check: &FunctionCheck,
    candidates: &[Candidate],
) -> Result<(), DatabaseFailure> {
    let refused = candidates.iter().find_map(|candidate| {
        let call = check
            .calls
            .iter()
            .find(|call| means(call, candidate) && !may(engine, check, call, candidate))?;
        Some((call, candidate))
    });
    match refused {
        Some((call, candidate)) => Err(refusal(engine, call, candidate)),
        None => Ok(()),
    }
}

fn means(call: &FunctionCall, candidate: &Candidate) -> bool {
    // MySQL found it by name without regard to case.
    let named = call.name.eq_ignore_ascii_case(&candidate.name);
    let reached = match &call.schema {
        Some(schema) => schema.eq_ignore_ascii_case(&candidate.schema),
        None => candidate.visible,
    };
    let fits = match call.notation {
        Notation::Call => true,
        Notation::Field => candidate.takes_one,
        // The server's own functions of rows only compute.
        Notation::Column => candidate.takes_one && candidate.takes_row && !candidate.of_server,
    };
    named && reached && fits
}

fn may(
    engine: SqlEngine,
    check: &FunctionCheck,
    call: &FunctionCall,
    candidate: &Candidate,
) -> bool {
    let known =
        call.built_in && (candidate.of_server || (candidate.of_extension && candidate.only_reads));
    known
        || check.allowed.iter().any(|rule| {
            rule.allows(
                engine,
                &candidate.schema,
                &candidate.name,
                candidate.only_reads,
            )
        })
}

fn refusal(engine: SqlEngine, call: &FunctionCall, candidate: &Candidate) -> DatabaseFailure {
    let whole = format!("{}.{}", candidate.schema, candidate.name);
    let means = match call.notation {
        Notation::Call => "calls",
        Notation::Column | Notation::Field => "without a column of that name calls",
    };
    let instead = match (engine, call.built_in) {
        (SqlEngine::Postgres, true) if call.notation == Notation::Call => {
            format!("write pg_catalog.{} for the server's own, or ", call.name)
        }
        _ => String::new(),
    };
    let arguments = &candidate.arguments;
    let volatile = if candidate.only_reads {
        ""
    } else {
        ", which may change things"
    };
    read_only(format!(
        "{} {means} {whole}({arguments}){volatile}; {instead}if it is harmless, allow it in \
         config.toml: [stack] allowed_functions = [\"{whole}\"]",
        call.name
    ))
}

/// A refusal of a function or an operator.
pub fn read_only(message: String) -> DatabaseFailure {
    DatabaseFailure::ReadOnly {
        code: "sql.function".to_owned(),
        message,
    }
}

/// A list of strings of a statement. `backslash`: whether the engine takes `\` for an escape.
pub fn literals<'a>(names: impl Iterator<Item = &'a str>, backslash: bool) -> String {
    let quoted = names.map(|name| {
        let name = name.replace('\'', "''");
        match backslash {
            true => format!("'{}'", name.replace('\\', "\\\\")),
            false => format!("'{name}'"),
        }
    });
    quoted.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use windlass_ports::database::AllowedFunction;

    use super::*;

    fn call(schema: Option<&str>, name: &str, notation: Notation, built_in: bool) -> FunctionCheck {
        let call = FunctionCall {
            schema: schema.map(str::to_owned),
            name: name.to_owned(),
            notation,
            built_in,
        };
        FunctionCheck {
            calls: [call].into(),
            ..FunctionCheck::default()
        }
    }

    fn users(only_reads: bool) -> Candidate {
        Candidate {
            schema: "app".to_owned(),
            name: "length".to_owned(),
            arguments: "users".to_owned(),
            visible: true,
            only_reads,
            takes_one: true,
            takes_row: true,
            ..Candidate::default()
        }
    }

    fn verdict(check: &FunctionCheck, candidate: &Candidate) -> bool {
        judge(SqlEngine::Postgres, check, std::slice::from_ref(candidate)).is_ok()
    }

    #[test]
    fn a_name_may_not_mean_a_function_of_a_user() {
        use Notation::{Call, Column, Field};
        for notation in [Call, Column, Field] {
            assert!(!verdict(
                &call(None, "length", notation, true),
                &users(true)
            ));
        }
        let hidden = Candidate {
            visible: false,
            ..users(true)
        };
        assert!(verdict(&call(None, "length", Call, true), &hidden));
        assert!(!verdict(&call(Some("app"), "length", Call, false), &hidden));
        assert!(verdict(
            &call(Some("pg_catalog"), "length", Call, true),
            &users(true)
        ));
    }

    #[test]
    fn the_servers_own_and_extensions_that_read_may_be_called() {
        let own = Candidate {
            of_server: true,
            ..users(false)
        };
        assert!(verdict(&call(None, "length", Notation::Call, true), &own));
        assert!(!verdict(&call(None, "length", Notation::Call, false), &own));
        assert!(verdict(
            &call(None, "length", Notation::Column, false),
            &own
        ));
        assert!(!verdict(
            &call(None, "length", Notation::Field, false),
            &own
        ));
        for (only_reads, built_in, passes) in [
            (true, true, true),
            (false, true, false),
            (true, false, false),
        ] {
            let extension = Candidate {
                of_extension: true,
                ..users(only_reads)
            };
            let check = call(None, "length", Notation::Call, built_in);
            assert_eq!(verdict(&check, &extension), passes);
        }
    }

    #[test]
    fn settings_allow_by_name_or_by_schema_what_reads() {
        for (entry, only_reads, passes) in [
            ("app.length", false, true),
            ("app.*", true, true),
            ("app.*", false, false),
            ("other.*", true, false),
            ("length", true, false),
        ] {
            let mut check = call(None, "length", Notation::Call, false);
            check.allowed = vec![AllowedFunction::parse(entry).unwrap()];
            assert_eq!(verdict(&check, &users(only_reads)), passes, "{entry}");
        }
    }

    #[test]
    fn a_refusal_says_what_is_called_and_how_to_allow_it() {
        let check = call(None, "length", Notation::Call, true);
        let refused = judge(SqlEngine::Postgres, &check, &[users(false)]).unwrap_err();
        insta::assert_snapshot!(refused, @r#"refused, because only reading is allowed: length calls app.length(users), which may change things; write pg_catalog.length for the server's own, or if it is harmless, allow it in config.toml: [stack] allowed_functions = ["app.length"]"#);
    }

    #[test]
    fn names_are_quoted_for_the_engine() {
        let names = ["a", "it's", "b\\"];
        assert_eq!(literals(names.into_iter(), false), r"'a', 'it''s', 'b\'");
        assert_eq!(literals(names.into_iter(), true), r"'a', 'it''s', 'b\\'");
    }
}
