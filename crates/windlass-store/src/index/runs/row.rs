//! One row of the table, its seal, and the record it is a part of.

use rusqlite::{Connection, OptionalExtension, Row};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use windlass_types::{
    ApprovalTerms, Digest, Principal, Problem, RunId, RunRecord, RunState, Surface, TraceId,
    WaitingOn,
    journal::{ApprovalGate, OnHeld, RunCreated},
    run::damage_problem,
};

use super::{TABLE, first_event};
use crate::{
    error::{Failure, Result},
    journal::Journal,
    row::from_json,
    seal,
};

/// The part of a run's record that events after the first change.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct RunLiveV1 {
    /// The last event that was folded in; a journal that ends before it has lost events.
    pub(super) folded_seq: u64,
    pub(super) attempts: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) waiting_on: Vec<(String, WaitingOn)>,
    #[serde(default)]
    pub(super) cancel_requested: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) gate_answered: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) gate_approved_by: Vec<String>,
    /// Who has to approve, where one approval is not enough; the same in every row of a run.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "terms"
    )]
    pub(super) gate_approvers: Option<ApprovalTerms>,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub(super) output: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) problem: Option<Problem>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) residue: Vec<String>,
    /// What it holds while it is unfinished; the same in every row of a run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) holds: Vec<String>,
}

/// A run may return `null`, which is not the same as not having returned.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// Older rows have a list with the conditions in it.
fn terms<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<ApprovalTerms>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        List(Vec<String>),
        Terms(ApprovalTerms),
    }
    Ok(Some(match Written::deserialize(deserializer)? {
        Written::List(list) => ApprovalTerms::of_list(list),
        Written::Terms(terms) => terms,
    }))
}

#[derive(PartialEq)]
pub(super) struct RunRow {
    pub(super) journal: i64,
    pub(super) kind: String,
    pub(super) state: RunState,
    pub(super) principal: String,
    pub(super) parent: Option<String>,
    pub(super) idempotency_key: Option<String>,
    pub(super) live: RunLiveV1,
}

impl RunRow {
    pub(super) fn find(connection: &Connection, journal: i64) -> Result<Option<Self>> {
        connection
            .prepare_cached(
                "SELECT journal, kind, state, principal, parent, idempotency_key, live, sum FROM runs WHERE journal = ?1",
            )?
            .query_row([journal], |row| Ok(Self::from_row(row)))
            .optional()?
            .transpose()
    }

    /// The row as far as it can be read, for a run that is damaged.
    pub(super) fn unchecked(connection: &Connection, journal: i64) -> Result<Option<Self>> {
        let row = connection
            .prepare_cached(
                "SELECT kind, state, principal, parent, idempotency_key, live FROM runs WHERE journal = ?1",
            )?
            .query_row([journal], |row| {
                let (state, live): (String, String) = (row.get(1)?, row.get(5)?);
                Ok(Self {
                    journal,
                    kind: row.get(0)?,
                    state: RunState::by_name(&state).unwrap_or(RunState::Running),
                    principal: row.get(2)?,
                    parent: row.get(3)?,
                    idempotency_key: row.get(4)?,
                    live: serde_json::from_str(&live).unwrap_or_default(),
                })
            })
            .optional()?;
        Ok(row)
    }

    pub(super) fn into_damaged(self, run_id: &RunId, finding: &str) -> RunRecord {
        let mut record = self.shell(run_id);
        record.fail_damaged(finding);
        record.problem = Some(damage_problem(run_id, finding));
        record.kind = self.kind;
        record.title = "damaged".to_owned();
        record.last_seq = self.live.folded_seq;
        record
    }

    pub(super) fn from_row(row: &Row<'_>) -> Result<Self> {
        let journal: i64 = row.get(0)?;
        let (state, live): (String, String) = (row.get(2)?, row.get(6)?);
        let key = journal.to_string();
        let parsed = Self {
            journal,
            kind: row.get(1)?,
            state: RunState::by_name(&state).ok_or_else(|| {
                Failure::damaged(format!("run number {key} has the unknown state {state:?}"))
            })?,
            principal: row.get(3)?,
            parent: row.get(4)?,
            idempotency_key: row.get(5)?,
            live: from_json(TABLE, &key, &live)?,
        };
        seal::check(TABLE, &key, row.get(7)?, parsed.sum(&live))?;
        Ok(parsed)
    }

    pub(super) fn check_end(&self, journal: &Journal, last_seq: u64) -> Result<()> {
        if last_seq >= self.live.folded_seq {
            return Ok(());
        }
        let (run_id, folded) = (&journal.run_id, self.live.folded_seq);
        Err(Failure::damaged(format!(
            "journal {run_id} ends at event {last_seq}, but had event {folded}"
        )))
    }

    pub(super) fn sum(&self, live: &str) -> i64 {
        seal::seal(
            TABLE,
            &[
                &self.journal.to_be_bytes(),
                self.kind.as_bytes(),
                self.state.as_str().as_bytes(),
                self.principal.as_bytes(),
                &seal::optional(self.parent.as_deref()),
                &seal::optional(self.idempotency_key.as_deref()),
                live.as_bytes(),
            ],
        )
    }

    /// A record whose live part is this row's and whose fixed part is blank: what the fold
    /// of one event needs, without reading the input of the run again.
    pub(super) fn shell(&self, run_id: &RunId) -> RunRecord {
        let created = RunCreated {
            kind: String::new(),
            principal: Principal::system(),
            surface: Surface::Engine,
            parent: None,
            trace_id: TraceId::default(),
            idempotency_key: None,
            config_hash: Digest::ZERO,
            input: Value::Null,
            plan_digest: None,
            confirm_token: None,
            approval: self
                .live
                .gate_approvers
                .clone()
                .map(|terms| ApprovalGate::Wanted {
                    terms,
                    rule: String::new(),
                }),
            subject: None,
            title: String::new(),
            holds: Vec::new(),
            on_held: OnHeld::default(),
        };
        let mut record =
            RunRecord::created(run_id.clone(), created, windlass_types::Timestamp::EPOCH);
        self.overlay(&mut record);
        record
    }

    pub(super) fn overlay(&self, record: &mut RunRecord) {
        let live = &self.live;
        record.state = self.state;
        record.attempts = live.attempts;
        record.waiting_on.clone_from(&live.waiting_on);
        record.cancel_requested = live.cancel_requested;
        record.gate_answered = live.gate_answered;
        record.gate_approved_by.clone_from(&live.gate_approved_by);
        record.output.clone_from(&live.output);
        record.problem.clone_from(&live.problem);
        record.residue.clone_from(&live.residue);
        record.holds.clone_from(&live.holds);
    }

    pub(super) fn into_record(
        self,
        connection: &Connection,
        journal: &Journal,
    ) -> Result<RunRecord> {
        let (first, created) = first_event(connection, journal)?;
        let last = journal.last_event(connection)?.ok_or_else(|| {
            Failure::damaged(format!("the events of {} are missing", journal.run_id))
        })?;
        self.check_end(journal, last.seq)?;
        let mut record = RunRecord::created(journal.run_id.clone(), created, first.time);
        self.overlay(&mut record);
        record.last_seq = last.seq;
        record.updated_at = last.time;
        Ok(record)
    }
}

pub(super) fn live_part(record: &RunRecord) -> RunLiveV1 {
    RunLiveV1 {
        folded_seq: record.last_seq,
        attempts: record.attempts,
        waiting_on: record.waiting_on.clone(),
        cancel_requested: record.cancel_requested,
        gate_answered: record.gate_answered,
        gate_approved_by: record.gate_approved_by.clone(),
        gate_approvers: gate_of_several(record.approval.as_ref()),
        output: record.output.clone(),
        problem: record.problem.clone(),
        residue: record.residue.clone(),
        holds: record.holds.clone(),
    }
}

/// The terms of a gate that wants several approvals: what counts them must know how many.
pub(super) fn gate_of_several(gate: Option<&ApprovalGate>) -> Option<ApprovalTerms> {
    match gate {
        Some(ApprovalGate::Wanted { terms, .. }) if terms.quorum > 1 => Some(terms.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_with_conditions_in_the_list_say_the_same() {
        let wait = |terms: &str| format!(r#""waiting_on":[["k",{{"what":"approval",{terms}}}]]"#);
        let old = format!(
            r#"{{"folded_seq":3,"attempts":1,{},"gate_approvers":["local:*","quorum:2","not:key:ci"]}}"#,
            wait(r#""approvers":["local:*","quorum:2"]"#)
        );
        let new = format!(
            r#"{{"folded_seq":3,"attempts":1,{},"cancel_requested":false,"gate_approvers":{{"approvers":["local:*"],"quorum":2,"except":"key:ci"}}}}"#,
            wait(r#""approvers":["local:*"],"quorum":2"#)
        );
        let read = |text: &str| serde_json::from_str::<RunLiveV1>(text).unwrap();
        assert_eq!(read(&old), read(&new));
        assert_eq!(serde_json::to_string(&read(&old)).unwrap(), new);
    }
}
