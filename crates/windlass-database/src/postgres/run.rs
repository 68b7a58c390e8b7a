//! One statement: inside a read-only transaction that is verified first and rolled back after,
//! or, for a local development database, by itself.

use std::ops::Range;

use fallible_iterator::FallibleIterator as _;
use postgres_protocol::IsNull;
use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend;
use tokio::io::AsyncWriteExt as _;
use windlass_ports::database::{Access, DatabaseFailure, Rows, SqlRequest};

use super::session::{Session, failure};
use super::values::{self, Column};
use crate::connect::unexpected;
use crate::rows::Collector;

/// What one statement returned, as text.
#[derive(Default)]
pub(super) struct Answer {
    columns: Vec<Column>,
    pub(super) rows: Vec<Vec<Option<String>>>,
    affected: Option<u64>,
    /// Rows came that are not kept.
    pub(super) dropped: bool,
}

impl Session {
    /// Runs the request's statement.
    pub async fn run(&mut self, request: &SqlRequest) -> Result<Rows, DatabaseFailure> {
        let reading = request.access == Access::ReadOnly;
        if reading {
            self.statement("BEGIN READ ONLY", 1, request.byte_limit)
                .await?;
        }
        self.prepare(request, reading).await?;
        let checked = match request.functions.as_ref().filter(|_| reading) {
            Some(check) => self.check_functions(request, check).await,
            None => Ok(()),
        };
        let answer = match checked {
            Ok(()) => {
                let rows = request.row_limit.saturating_add(1);
                self.statement(&request.statement, rows, request.byte_limit)
                    .await
            }
            Err(refused) => Err(refused),
        };
        let rows = match answer {
            Ok(answer) => self.shape(request, answer).await,
            Err(failure) => Err(failure),
        };
        // Whatever happened: nothing stays. A connection that is gone has rolled back already.
        if reading {
            let _ = self.statement("ROLLBACK", 1, request.byte_limit).await;
        }
        self.outgoing.clear();
        frontend::terminate(&mut self.outgoing);
        let _ = self.send().await;
        let _ = self.wire.shutdown().await;
        rows
    }

    /// Timeouts and forms of output; when reading, the proof that nothing can be written. It is
    /// a query, so the transaction has its snapshot and can no longer be made to write.
    async fn prepare(
        &mut self,
        request: &SqlRequest,
        reading: bool,
    ) -> Result<(), DatabaseFailure> {
        let timeout = request.statement_timeout.as_millis().max(1);
        let settings = [
            ("statement_timeout", timeout.to_string()),
            ("lock_timeout", timeout.min(5_000).to_string()),
            (
                "idle_in_transaction_session_timeout",
                (timeout + 10_000).to_string(),
            ),
            ("standard_conforming_strings", "on".to_owned()),
            ("bytea_output", "hex".to_owned()),
            ("DateStyle", "ISO, MDY".to_owned()),
            ("IntervalStyle", "iso_8601".to_owned()),
            ("TimeZone", "UTC".to_owned()),
        ];
        let calls: Vec<String> = settings
            .iter()
            .map(|(name, value)| format!("pg_catalog.set_config('{name}', '{value}', {reading})"))
            .collect();
        let statement = format!(
            "SELECT {}, pg_catalog.current_setting('transaction_read_only')",
            calls.join(", ")
        );
        let answer = self.statement(&statement, 1, request.byte_limit).await?;
        let proof = answer.rows.first().and_then(|row| row.last());
        if reading && !matches!(proof, Some(Some(on)) if on == "on") {
            return Err(DatabaseFailure::ReadOnly {
                code: "25006".to_owned(),
                message: "the server did not open a read-only transaction".to_owned(),
            });
        }
        Ok(())
    }

    /// Parse, bind, describe, execute, all in one go.
    pub(super) async fn statement(
        &mut self,
        statement: &str,
        row_limit: usize,
        byte_limit: usize,
    ) -> Result<Answer, DatabaseFailure> {
        let wrong = |error: std::io::Error| DatabaseFailure::Statement {
            code: String::new(),
            message: format!("the statement cannot be sent: {error}"),
            position: None,
        };
        let out = &mut self.outgoing;
        out.clear();
        frontend::parse("", statement, [], out).map_err(wrong)?;
        frontend::bind("", "", [], [] as [(); 0], |(), _| Ok(IsNull::Yes), [0], out)
            .map_err(|_| unexpected("the statement cannot be bound"))?;
        frontend::describe(b'P', "", out).map_err(wrong)?;
        let most = i32::try_from(row_limit).unwrap_or(i32::MAX);
        frontend::execute("", most, out).map_err(wrong)?;
        frontend::sync(out);
        self.send().await?;
        self.answer(row_limit, byte_limit).await
    }

    async fn answer(
        &mut self,
        row_limit: usize,
        byte_limit: usize,
    ) -> Result<Answer, DatabaseFailure> {
        let mut answer = Answer::default();
        let mut failed = None;
        let mut bytes_left = byte_limit;
        let broken = |error: std::io::Error| unexpected(error.to_string());
        loop {
            match self.next().await? {
                Message::RowDescription(body) => {
                    let mut fields = body.fields();
                    while let Some(field) = fields.next().map_err(broken)? {
                        answer.columns.push(Column {
                            name: field.name().to_owned(),
                            oid: field.type_oid(),
                        });
                    }
                }
                Message::DataRow(body) => {
                    let size = body.buffer().len();
                    if answer.dropped || answer.rows.len() > row_limit || size > bytes_left {
                        answer.dropped = true;
                        continue;
                    }
                    bytes_left -= size;
                    let ranges: Vec<Option<Range<usize>>> =
                        body.ranges().collect().map_err(broken)?;
                    let row = ranges.into_iter().map(|range| {
                        range.map(|range| {
                            String::from_utf8_lossy(&body.buffer()[range]).into_owned()
                        })
                    });
                    answer.rows.push(row.collect());
                }
                Message::CommandComplete(body) => {
                    answer.affected = body.tag().ok().and_then(affected);
                }
                Message::ErrorResponse(body) => {
                    failed.get_or_insert_with(|| failure(&body));
                }
                Message::CopyInResponse(_) => {
                    failed.get_or_insert_with(copy_refused);
                    frontend::copy_fail("COPY is not supported", &mut self.outgoing)
                        .map_err(broken)?;
                    // The one sent before was swallowed as part of the data.
                    frontend::sync(&mut self.outgoing);
                    self.send().await?;
                }
                Message::CopyOutResponse(_) => {
                    failed.get_or_insert_with(copy_refused);
                }
                Message::ReadyForQuery(_) => {
                    return match failed {
                        Some(failure) => Err(failure),
                        None => Ok(answer),
                    };
                }
                Message::ParseComplete
                | Message::BindComplete
                | Message::NoData
                | Message::EmptyQueryResponse
                | Message::PortalSuspended
                | Message::CopyData(_)
                | Message::CopyDone => {}
                _ => return Err(unexpected("a message that belongs to no statement")),
            }
        }
    }

    /// Text → JSON by type; types of extensions and users are looked up.
    async fn shape(
        &mut self,
        request: &SqlRequest,
        answer: Answer,
    ) -> Result<Rows, DatabaseFailure> {
        let mut kinds = values::Kinds::default();
        let unknown = kinds.unknown(&answer.columns);
        if !unknown.is_empty() {
            let list: Vec<String> = unknown.iter().map(u32::to_string).collect();
            let statement = format!(
                "SELECT oid::text, typname::text, typelem::text FROM pg_catalog.pg_type WHERE oid IN ({})",
                list.join(", ")
            );
            let found = self
                .statement(&statement, unknown.len(), request.byte_limit)
                .await?;
            for row in &found.rows {
                if let [Some(oid), Some(name), Some(element)] = row.as_slice() {
                    kinds.learn(oid, name, element);
                }
            }
        }
        let mut collector = Collector::new(request.row_limit, request.byte_limit);
        collector.columns(
            answer
                .columns
                .iter()
                .map(|column| (column.name.clone(), kinds.name(column.oid))),
        );
        for row in answer.rows {
            let size = row.iter().flatten().map(String::len).sum();
            if !collector.takes(size) {
                break;
            }
            collector.push(
                row.iter()
                    .zip(&answer.columns)
                    .map(|(text, column)| kinds.value(column.oid, text.as_deref()))
                    .collect(),
            );
        }
        if let Some(count) = answer.affected {
            collector.affected(count);
        }
        let mut rows = collector.finish();
        rows.truncated |= answer.dropped;
        Ok(rows)
    }
}

/// `INSERT 0 3` → 3; a query changes nothing.
fn affected(tag: &str) -> Option<u64> {
    let mut words = tag.split(' ');
    match words.next() {
        Some("INSERT" | "UPDATE" | "DELETE" | "MERGE" | "COPY") => words.next_back()?.parse().ok(),
        _ => None,
    }
}

fn copy_refused() -> DatabaseFailure {
    DatabaseFailure::Statement {
        code: "0A000".to_owned(),
        message: "COPY is not supported; use SELECT or INSERT".to_owned(),
        position: None,
    }
}
