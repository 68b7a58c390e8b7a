//! What can go wrong inside the store, and how it is reported to callers.

use std::io;

use rusqlite::{ErrorCode, ffi};
use windlass_ports::{BlobError, StoreError};
use windlass_types::Digest;

use crate::{holder::Holder, home::Home};

pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

/// A failure as the store's own code sees it, before it becomes a `StoreError`.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Sql(#[from] rusqlite::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Failure {
    /// Stored data that does not pass its check.
    pub(crate) fn damaged(what: impl Into<String>) -> Self {
        Self::Store(StoreError::Damaged(what.into()))
    }

    /// Whether another process is in the way.
    pub(crate) fn is_busy(&self) -> bool {
        match self {
            Self::Sql(error) => matches!(
                error.sqlite_error_code(),
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
            ),
            Self::Store(error) => matches!(error, StoreError::Busy),
            Self::Io(_) => false,
        }
    }

    /// Names the process that is in the way, where it can be known.
    pub(crate) fn naming_holder(self, home: &Home) -> Self {
        match self.is_busy().then(|| Holder::of_store(home)).flatten() {
            Some(holder) => holder.into_error().into(),
            None => self,
        }
    }

    /// Whether the statement itself was refused, as opposed to the disk or the file failing:
    /// then the commit it belongs to is at fault and others of its batch are not.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(self, Self::Sql(error) if matches!(
            error.sqlite_error_code(),
            Some(ErrorCode::ConstraintViolation | ErrorCode::TooBig | ErrorCode::TypeMismatch)
        ) || matches!(error, rusqlite::Error::ToSqlConversionFailure(_)))
    }
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Store(error) => error,
            Failure::Sql(error) => from_sqlite(&error),
            Failure::Io(error) => from_io(&error),
        }
    }
}

fn from_sqlite(error: &rusqlite::Error) -> StoreError {
    if let Some(code) = error.sqlite_error() {
        return match (code.code, code.extended_code) {
            // The shared index is a file of its own; SQLite reports its lack of space as an IO error.
            (ErrorCode::DiskFull, _) | (_, ffi::SQLITE_IOERR_SHMSIZE) => StoreError::Full,
            (ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase, _)
            | (
                _,
                ffi::SQLITE_IOERR_SHORT_READ | ffi::SQLITE_IOERR_CORRUPTFS | ffi::SQLITE_IOERR_DATA,
            ) => StoreError::Damaged(error.to_string()),
            (ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked, _) => StoreError::Busy,
            (_, extended) => StoreError::Io(format!("{error} (SQLite code {extended})")),
        };
    }
    match error {
        // Rows that are always there and columns that always hold the same type.
        rusqlite::Error::QueryReturnedNoRows => {
            StoreError::Damaged("a row that belongs to every store is missing".to_owned())
        }
        rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::IntegralValueOutOfRange(..)
        | rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::Utf8Error(..) => StoreError::Damaged(error.to_string()),
        other => StoreError::Io(other.to_string()),
    }
}

fn from_io(error: &io::Error) -> StoreError {
    if is_out_of_space(error) {
        StoreError::Full
    } else {
        StoreError::Io(error.to_string())
    }
}

/// No space, no quota, or a limit on file size: more room is what helps.
pub(crate) fn is_out_of_space(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
    )
}

/// The same for contents; damage found while looking for one is reported as such.
pub(crate) fn blob_error(failure: Failure, digest: Digest) -> BlobError {
    match StoreError::from(failure) {
        StoreError::Full => BlobError::Full,
        StoreError::Damaged(_) => BlobError::Altered(digest),
        other => BlobError::Io(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sqlite(extended: i32) -> StoreError {
        Failure::Sql(rusqlite::Error::SqliteFailure(
            ffi::Error::new(extended),
            Some("why".to_owned()),
        ))
        .into()
    }

    #[test]
    fn sqlite_codes_become_typed_errors() {
        for (code, expected) in [
            (ffi::SQLITE_FULL, "the disk is full"),
            (ffi::SQLITE_IOERR_SHMSIZE, "the disk is full"),
            (ffi::SQLITE_CORRUPT, "the store is damaged: why"),
            (ffi::SQLITE_NOTADB, "the store is damaged: why"),
            (ffi::SQLITE_BUSY, "the store is busy"),
            (ffi::SQLITE_BUSY_RECOVERY, "the store is busy"),
            (
                ffi::SQLITE_IOERR_FSYNC,
                "the store failed: why (SQLite code 1034)",
            ),
        ] {
            assert_eq!(sqlite(code).to_string(), expected, "{code}");
        }
    }

    #[test]
    fn a_refused_statement_is_not_a_failing_disk() {
        let refusal = |code| {
            Failure::Sql(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)).is_refusal()
        };
        assert!(refusal(ffi::SQLITE_CONSTRAINT_UNIQUE));
        assert!(!refusal(ffi::SQLITE_FULL));
        assert!(!refusal(ffi::SQLITE_IOERR_FSYNC));
    }
}
