//! Read-only SQL: any text, no panic; what passes still passes with a comment before it and
//! never with a second statement, a write or a call of an unknown function after it.

use windlass_stack_diagnose::guard::sql::{SqlEngine, StatementKind, check};

pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    for engine in [SqlEngine::Postgres, SqlEngine::MySql] {
        let Ok(statement) = check(engine, text, &[]) else {
            continue;
        };
        assert_eq!(
            check(engine, &format!("/* first */\n{text}"), &[]),
            Ok(statement.clone())
        );
        // A line of its own ends a comment that the text may end with.
        assert!(check(engine, &format!("{text}\n; delete from users"), &[]).is_err());
        assert!(check(engine, &format!("{text}\n union select nextval('a')"), &[]).is_err());
        if statement.kind == StatementKind::Query {
            assert!(check(engine, &format!("{text}\n + 1 for update"), &[]).is_err());
            assert!(
                check(
                    engine,
                    &format!("with t as (delete from users) {text}"),
                    &[]
                )
                .is_err()
            );
        }
    }
}
