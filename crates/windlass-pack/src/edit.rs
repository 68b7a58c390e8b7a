//! Writes to the config repository: under its lock, journalled, all or nothing.

use std::path::PathBuf;

use windlass_pack_author::Authored;
use windlass_pack_deploy::state::{FileAction, NoFaults, Transaction, commit};
use windlass_types::Problem;

use crate::{
    apply::LOCK_WAIT,
    workspace::{Moment, Pack},
};

/// Carries out what a verb of the author asks for; the warnings it gave.
pub(crate) fn carry_out<T>(
    pack: &Pack,
    moment: &Moment,
    authored: &Authored<T>,
) -> Result<Vec<String>, Problem> {
    let mut warnings = authored.warnings.clone();
    warnings.extend(write(pack, moment, &authored.roots, &authored.writes)?);
    Ok(warnings)
}

/// Writes files below these directories.
pub(crate) fn write(
    pack: &Pack,
    moment: &Moment,
    roots: &[PathBuf],
    actions: &[FileAction],
) -> Result<Vec<String>, Problem> {
    if actions.is_empty() {
        return Ok(Vec::new());
    }
    let state = pack.state();
    let run_id = format!("edit_{}", moment.nanos);
    let locks = state.lock(roots, &run_id, LOCK_WAIT)?;
    let mut transaction = Transaction::new(run_id);
    transaction.actions = actions.to_vec();
    transaction.write_through = roots.to_vec();
    transaction.fsync = pack.environment.fsync;
    Ok(commit(&state, &locks, transaction, &NoFaults)?.warnings)
}
