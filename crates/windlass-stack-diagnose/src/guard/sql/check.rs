//! The rules, over tokens.

use std::collections::BTreeSet;

use windlass_ports::database::{AllowedFunction, FunctionCall, FunctionCheck};

use super::SqlEngine;
use super::functions;
use super::lex::lex;
use super::token::{TextKind, Token};
use crate::guard::{Refusal, Rule};

/// What a statement is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementKind {
    /// `SELECT`, `WITH … SELECT`, `VALUES`, `TABLE`.
    Query,
    /// `SHOW`; in MySQL `DESCRIBE` of a table too.
    Show,
    /// `EXPLAIN`.
    Explain {
        /// Whether the statement is executed for it.
        executes: bool,
    },
}

/// A statement that may be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// What it is.
    pub kind: StatementKind,
    /// What it calls, or could call.
    pub calls: BTreeSet<FunctionCall>,
    /// The characters of its operators.
    pub operator_characters: BTreeSet<char>,
}

impl Statement {
    /// What the server looks up before the statement runs.
    pub fn to_look_up(self, allowed: &[AllowedFunction]) -> FunctionCheck {
        FunctionCheck {
            calls: self.calls,
            operator_characters: self.operator_characters,
            allowed: allowed.to_vec(),
        }
    }
}

const QUERIES: &[&str] = &["select", "with", "values", "table"];
const WRITES: &[&str] = &["insert", "update", "delete", "merge", "replace"];

/// Lets one statement through that only reads and calls only functions that are known to read,
/// or are allowed here.
pub fn check(
    engine: SqlEngine,
    text: &str,
    allowed: &[AllowedFunction],
) -> Result<Statement, Refusal> {
    let mut tokens = lex(engine, text)?;
    readable(engine, &tokens)?;
    while tokens.last().is_some_and(|last| last.is_symbol(';')) {
        tokens.pop();
    }
    if tokens.is_empty() {
        return Err(Refusal::new(
            Rule::SqlEmpty,
            "there is no statement; give one SELECT, WITH, VALUES, TABLE, SHOW or EXPLAIN",
        ));
    }
    if tokens.iter().any(|token| token.is_symbol(';')) {
        return Err(Refusal::new(
            Rule::SqlOneStatement,
            "there is more than one statement; send them one at a time",
        ));
    }
    let kind = kind(engine, &tokens)?;
    if engine == SqlEngine::Postgres {
        built_in_operators(&tokens)?;
    }
    let calls = functions::calls(engine, &tokens, allowed)?;
    if kind != (StatementKind::Explain { executes: false }) {
        no_writes(engine, &tokens, kind)?;
    }
    Ok(Statement {
        kind,
        calls,
        operator_characters: operator_characters(&tokens),
    })
}

/// `OPERATOR(schema.+)` names an operator, and with it a function, of any schema.
fn built_in_operators(tokens: &[Token]) -> Result<(), Refusal> {
    for at in 0..tokens.len().saturating_sub(1) {
        if tokens[at].is("operator")
            && tokens[at + 1].is_symbol('(')
            && !matches!(
                tokens.get(at + 2..at + 4),
                Some([schema, dot]) if schema.is("pg_catalog") && dot.is_symbol('.')
            )
        {
            return Err(Refusal::new(
                Rule::SqlOperator,
                "OPERATOR(…) may call a function of a user; write the operator alone, or \
                 OPERATOR(pg_catalog.…)",
            ));
        }
    }
    Ok(())
}

fn operator_characters(tokens: &[Token]) -> BTreeSet<char> {
    tokens
        .iter()
        .filter_map(|token| match token {
            Token::Symbol(symbol) if "+-*/<>=~!@#%^&|`?".contains(*symbol) => Some(*symbol),
            _ => None,
        })
        .collect()
}

/// Parentheses are balanced, and no string continues another one.
fn readable(engine: SqlEngine, tokens: &[Token]) -> Result<(), Refusal> {
    let mut depth = 0_usize;
    for pair in tokens.windows(2) {
        // A string on the next line continues the one before, in the same way of escaping.
        if engine == SqlEngine::Postgres
            && pair[0] == Token::Text(TextKind::Escaped)
            && matches!(pair[1], Token::Text(_))
        {
            return Err(Refusal::new(
                Rule::SqlUnreadable,
                "a string with escapes is continued by another string; write it as one",
            ));
        }
    }
    for token in tokens {
        if token.is_symbol('(') {
            depth += 1;
        } else if token.is_symbol(')') {
            let Some(less) = depth.checked_sub(1) else {
                return Err(unbalanced());
            };
            depth = less;
        }
    }
    if depth > 0 {
        return Err(unbalanced());
    }
    Ok(())
}

fn unbalanced() -> Refusal {
    Refusal::new(
        Rule::SqlUnreadable,
        "the parentheses of the statement do not match",
    )
}

fn kind(engine: SqlEngine, tokens: &[Token]) -> Result<StatementKind, Refusal> {
    let start = tokens
        .iter()
        .position(|token| !token.is_symbol('('))
        .unwrap_or(0);
    let first = &tokens[start];
    if first.is_any(QUERIES) {
        return Ok(StatementKind::Query);
    }
    if start == 0 {
        if first.is("show") {
            return Ok(StatementKind::Show);
        }
        let explains: &[&str] = match engine {
            SqlEngine::Postgres => &["explain"],
            SqlEngine::MySql => &["explain", "describe", "desc"],
        };
        if first.is_any(explains) {
            return match engine {
                SqlEngine::Postgres => explain_postgres(&tokens[1..]),
                SqlEngine::MySql => explain_mysql(&tokens[1..]),
            };
        }
    }
    let what = match first {
        Token::Word(word) => word.to_ascii_uppercase(),
        _ => "this".to_owned(),
    };
    Err(Refusal::new(
        Rule::SqlStatementKind,
        format!(
            "{what} is not a statement that only reads; allowed are SELECT, WITH … SELECT, \
             VALUES, TABLE, SHOW and EXPLAIN"
        ),
    ))
}

/// `EXPLAIN [ANALYZE] [VERBOSE] …` and `EXPLAIN (option [value], …) …`.
fn explain_postgres(rest: &[Token]) -> Result<StatementKind, Refusal> {
    let analyzes = |token: &Token| {
        token
            .name()
            .is_some_and(|name| name == "analyze" || name == "analyse")
    };
    let (options, explained) = if rest.first().is_some_and(|token| token.is_symbol('('))
        && !rest
            .get(1)
            .is_some_and(|token| token.is_any(QUERIES) || token.is_symbol('('))
    {
        let end = rest
            .iter()
            .position(|token| token.is_symbol(')'))
            .unwrap_or(rest.len() - 1);
        rest.split_at(end + 1)
    } else {
        let end = rest
            .iter()
            .position(|token| !token.is_any(&["analyze", "analyse", "verbose"]))
            .unwrap_or(rest.len());
        rest.split_at(end)
    };
    explained_kind(explained, options.iter().any(analyzes))
}

/// `EXPLAIN [ANALYZE] [EXTENDED | PARTITIONS] [FORMAT = x] …`, and `DESCRIBE table`.
fn explain_mysql(rest: &[Token]) -> Result<StatementKind, Refusal> {
    let mut at = 0;
    let mut executes = false;
    while let Some(token) = rest.get(at) {
        if token.is_any(&["analyze", "analyse"]) {
            executes = true;
            at += 1;
        } else if token.is_any(&["extended", "partitions"]) {
            at += 1;
        } else if token.is("format") && rest.get(at + 1).is_some_and(|next| next.is_symbol('=')) {
            at += 3;
        } else {
            break;
        }
    }
    let explained = rest.get(at..).unwrap_or_default();
    let writes_or_reads = explained
        .iter()
        .find(|token| !token.is_symbol('('))
        .is_some_and(|token| token.is_any(QUERIES) || token.is_any(WRITES));
    if !writes_or_reads && !executes {
        return Ok(StatementKind::Show);
    }
    explained_kind(explained, executes)
}

fn explained_kind(explained: &[Token], executes: bool) -> Result<StatementKind, Refusal> {
    let first = explained.iter().find(|token| !token.is_symbol('('));
    let Some(first) = first.filter(|token| token.is_any(QUERIES) || token.is_any(WRITES)) else {
        return Err(Refusal::new(
            Rule::SqlStatementKind,
            "EXPLAIN is allowed of SELECT, WITH, VALUES, TABLE, INSERT, UPDATE, DELETE and MERGE",
        ));
    };
    if executes && first.is_any(WRITES) {
        return Err(Refusal::new(
            Rule::SqlExplainAnalyze,
            "EXPLAIN ANALYZE executes the statement, so it is allowed of queries only; leave \
             ANALYZE out to see the plan",
        ));
    }
    Ok(StatementKind::Explain { executes })
}

/// No write, no destination and no lock anywhere among the tokens.
fn no_writes(engine: SqlEngine, tokens: &[Token], kind: StatementKind) -> Result<(), Refusal> {
    for (index, token) in tokens.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|at| tokens.get(at));
        if before.is_some_and(|dot| dot.is_symbol('.')) {
            continue;
        }
        let after = |ahead: usize| tokens.get(index + ahead);
        if token.is("into") {
            return Err(Refusal::new(
                Rule::SqlInto,
                "INTO writes the result somewhere; leave it out (a column of that name needs quotes)",
            ));
        }
        if token.is("for")
            && after(1).is_some_and(|next| next.is_any(&["update", "share", "no", "key"]))
            || token.is("lock") && after(1).is_some_and(|next| next.is("in"))
        {
            return Err(Refusal::new(
                Rule::SqlRowLock,
                "row locks (FOR UPDATE, FOR SHARE, LOCK IN SHARE MODE) block others; leave them out",
            ));
        }
        if engine == SqlEngine::MySql
            && token.is_any(&["next", "previous"])
            && after(1).is_some_and(|next| next.is("value"))
            && after(2).is_some_and(|next| next.is("for"))
        {
            return Err(Refusal::new(
                Rule::SqlFunction,
                "NEXT VALUE FOR advances a sequence",
            ));
        }
        // SHOW names things (`SHOW CREATE TABLE delete_log`); it executes nothing.
        if kind != StatementKind::Show && starts_write(token, after(1)) {
            let rule = match kind {
                StatementKind::Explain { .. } => Rule::SqlExplainAnalyze,
                _ => Rule::SqlNestedWrite,
            };
            return Err(Refusal::new(
                rule,
                format!(
                    "{} inside a query changes data (a column of that name needs quotes)",
                    token.name().unwrap_or_default().to_ascii_uppercase()
                ),
            ));
        }
    }
    Ok(())
}

/// Whether a write starts here. Its second word distinguishes it from a column or a function of the
/// same name: a table's name, or a modifier, follows at once.
fn starts_write(token: &Token, next: Option<&Token>) -> bool {
    /// Words reserved in both dialects, so that no table and no modifier is called so.
    const AFTER_A_COLUMN: &[&str] = &[
        "and", "as", "asc", "collate", "desc", "else", "group", "having", "in", "is", "like",
        "limit", "not", "or", "order", "then", "union", "when", "where",
    ];
    if !token.is_any(WRITES) {
        return false;
    }
    match next {
        Some(Token::Word(word)) => {
            let column =
                AFTER_A_COLUMN.contains(&word.as_str()) || (word == "from" && !token.is("delete"));
            !column
        }
        Some(Token::Quoted(_)) => true,
        Some(next) => token.is("update") && next.is_symbol('('),
        None => false,
    }
}
