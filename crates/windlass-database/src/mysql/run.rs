//! One statement: inside a read-only transaction that is verified first and rolled back after,
//! or, for a local development database, by itself.

use windlass_ports::database::{Access, DatabaseFailure, Rows, SqlRequest};

use super::packet::Reader;
use super::session::{Session, failure};
use super::values::{Column, value};
use crate::connect::unexpected;
use crate::rows::Collector;

const QUIT: u8 = 1;
const QUERY: u8 = 3;

impl Session {
    /// Runs the request's statement.
    pub async fn run(&mut self, request: &SqlRequest) -> Result<Rows, DatabaseFailure> {
        let reading = request.access == Access::ReadOnly;
        self.prepare(request, reading).await?;
        let checked = match request.functions.as_ref().filter(|_| reading) {
            Some(check) => self.check_functions(request, check).await,
            None => Ok(()),
        };
        let rows = match checked {
            Ok(()) => {
                self.statement(&request.statement, request.row_limit, request.byte_limit)
                    .await
            }
            Err(refused) => Err(refused),
        };
        if reading && !cut_off(&rows) {
            // Whatever happened: nothing stays. A lost connection has rolled back already.
            let _ = self.statement("ROLLBACK", 1, request.byte_limit).await;
        }
        if !cut_off(&rows) {
            self.packets.restart();
            let _ = self.packets.write(&[QUIT]).await;
        }
        rows
    }

    /// Limits, forms of output and, when reading, the transaction with the proof that it reads.
    async fn prepare(
        &mut self,
        request: &SqlRequest,
        reading: bool,
    ) -> Result<(), DatabaseFailure> {
        let maria = self.version.contains("MariaDB");
        let timeout = request.statement_timeout.as_millis().max(1);
        let lock_seconds = timeout.div_ceil(1_000).min(5);
        let limit = if maria {
            format!(
                "max_statement_time = {}",
                request.statement_timeout.as_secs_f64()
            )
        } else {
            format!("max_execution_time = {timeout}")
        };
        // An empty mode: quotes and backslashes mean what the rules before us took them for.
        let settings = format!(
            "SET SESSION sql_mode = '', time_zone = '+00:00', lock_wait_timeout = {lock_seconds}, \
             innodb_lock_wait_timeout = {lock_seconds}, {limit}"
        );
        let bytes = request.byte_limit;
        self.statement(&settings, 1, bytes).await?;
        if !reading {
            return Ok(());
        }
        let rows = format!(
            "SET SESSION sql_select_limit = {}",
            request.row_limit.saturating_add(1)
        );
        self.statement(&rows, 1, bytes).await?;
        // For the session too: a statement that ends the transaction gains nothing.
        self.statement("SET SESSION TRANSACTION READ ONLY", 1, bytes)
            .await?;
        self.statement("START TRANSACTION READ ONLY", 1, bytes)
            .await?;
        let variable = if maria || self.version.starts_with("5.") {
            "tx_read_only"
        } else {
            "transaction_read_only"
        };
        let proof = self
            .statement(&format!("SELECT @@session.{variable} AS proof"), 1, bytes)
            .await?;
        let proven = proof
            .rows
            .first()
            .and_then(|row| row.get("proof"))
            .is_some_and(|on| *on == serde_json::json!(1));
        if !proven {
            return Err(DatabaseFailure::ReadOnly {
                code: "1792".to_owned(),
                message: "the server did not open a read-only transaction".to_owned(),
            });
        }
        Ok(())
    }

    pub(super) async fn statement(
        &mut self,
        statement: &str,
        row_limit: usize,
        byte_limit: usize,
    ) -> Result<Rows, DatabaseFailure> {
        let mut command = vec![QUERY];
        command.extend_from_slice(statement.as_bytes());
        self.packets.restart();
        self.packets.write(&command).await?;
        let mut collector = Collector::new(row_limit, byte_limit);
        let first = self.packets.read().await?;
        let mut reader = Reader(&first);
        match first.first() {
            Some(0x00) => {
                reader.take(1)?;
                collector.affected(reader.length()?.unwrap_or(0));
                return Ok(collector.finish());
            }
            Some(0xff) => return Err(failure(&first)),
            Some(0xfb) => {
                return Err(unexpected("the server asks for a file of this machine"));
            }
            _ => {}
        }
        let count = reader.length()?.unwrap_or(0);
        let mut columns = Vec::new();
        for _ in 0..count {
            columns.push(Column::read(&self.packets.read().await?)?);
        }
        collector.columns(
            columns
                .iter()
                .map(|column| (column.name.clone(), column.kind_name())),
        );
        self.packets.read().await?;
        loop {
            let packet = self.packets.read().await?;
            match packet.first() {
                Some(0xff) => return Err(failure(&packet)),
                Some(0xfe) if packet.len() < 9 => return Ok(collector.finish()),
                _ => {}
            }
            if !collector.takes(packet.len()) {
                // The rest is not read; the connection is closed with it.
                return Ok(collector.finish());
            }
            let mut reader = Reader(&packet);
            let mut row = Vec::with_capacity(columns.len());
            for column in &columns {
                row.push(value(column, reader.field()?));
            }
            collector.push(row);
        }
    }
}

/// Whether rows are still on their way, so that the connection can only be dropped.
const fn cut_off(rows: &Result<Rows, DatabaseFailure>) -> bool {
    match rows {
        Ok(rows) => rows.truncated,
        Err(DatabaseFailure::Unreachable { .. } | DatabaseFailure::Answer { .. }) => true,
        Err(_) => false,
    }
}
