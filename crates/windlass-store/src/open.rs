//! Opening a store: the files, the schema, the writer and the readers.

use std::{
    fs::{File, TryLockError},
    io::ErrorKind,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicU64},
    time::{Duration, Instant},
};

use rusqlite::{Connection, ErrorCode, OpenFlags, config::DbConfig};
use windlass_ports::StoreError;
use windlass_types::Secret;

use crate::{
    drivers::Drivers,
    error::{Failure, Result},
    fault::StoreFaults,
    history::SealKey,
    holder::Holder,
    home::{Home, create_private_dir, make_private},
    mark::MarkKeeper,
    migrate,
    notice::Notice,
    read::Readers,
    session::Session,
    writer::Writer,
};

/// How long a process waits for another that makes or migrates the store, and how often it looks.
const MAKING: Duration = Duration::from_secs(30);
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// What the process means to do with the store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// Read and write; files are made as needed.
    #[default]
    ReadWrite,
    /// Read only, also from a disk that cannot be written. The store must exist.
    ReadOnly,
}

/// How to open a store.
#[derive(Clone)]
pub struct SqliteStoreOptions {
    /// What the process means to do.
    pub access: Access,
    /// How long to wait for another process that writes.
    pub busy_timeout: Duration,
    /// How long a driver may be silent before what it holds can be taken over.
    pub lease: Duration,
    /// How often to look for commits of other processes while there are subscribers.
    pub poll_interval: Duration,
    /// How many reads run at a time.
    pub readers: usize,
    /// Seals the history, so that nobody without it can change what happened and have it pass.
    /// Without one the seal only shows damage.
    pub seal_key: Option<Secret<Vec<u8>>>,
    /// A file beside the key that says that this home has a sealed history. Made with the first
    /// one; a store without a seal was then put in its place, or nothing was.
    pub sealed_note: Option<PathBuf>,
    /// The key files that the next start needs; those it could not use are reported.
    pub key_files: Vec<PathBuf>,
    /// A test's hand in the writer.
    pub faults: Option<Arc<dyn StoreFaults>>,
}

impl Default for SqliteStoreOptions {
    fn default() -> Self {
        Self {
            access: Access::ReadWrite,
            busy_timeout: Duration::from_secs(5),
            lease: Duration::from_secs(10),
            poll_interval: Duration::from_millis(50),
            readers: 4,
            seal_key: None,
            sealed_note: None,
            key_files: Vec::new(),
            faults: None,
        }
    }
}

/// The store of one home.
pub struct SqliteStore {
    pub(crate) home: Home,
    pub(crate) options: SqliteStoreOptions,
    pub(crate) drivers: Arc<Drivers>,
    pub(crate) readers: Readers,
    pub(crate) notice: Arc<Notice>,
    pub(crate) flushes: Arc<AtomicU64>,
    writer: Option<Writer>,
}

impl SqliteStore {
    /// Opens the store of a home, making or migrating it as needed.
    pub fn open(home: &Path, options: SqliteStoreOptions) -> Result<Self, StoreError> {
        let home = Home::at(home);
        Self::open_inner(home.clone(), options).map_err(|failure| explain(&home, failure))
    }

    fn open_inner(home: Home, options: SqliteStoreOptions) -> Result<Self> {
        let drivers = Arc::new(Drivers::new(home.clone(), options.lease));
        let notice = Notice::new(Arc::clone(&drivers));
        let flushes = Arc::<AtomicU64>::default();
        let readers = Readers::new(home.clone(), options.clone());
        let writer = match options.access {
            Access::ReadWrite => {
                let connection = connect_or_create(&home, &options)?;
                note_seal(&options)?;
                let session = Session::new(
                    home.clone(),
                    options.clone(),
                    connection,
                    Arc::clone(&drivers),
                    Arc::clone(&notice),
                    Arc::clone(&flushes),
                )?;
                Some(Writer::start(session)?)
            }
            Access::ReadOnly => {
                let connection = connect_reader(&home, &options)?;
                let found = migrate::version(&connection)?;
                if found < migrate::NEWEST {
                    return Err(StoreError::Io(format!(
                        "the store has schema {found} and must be opened for writing once to become {}",
                        migrate::NEWEST
                    ))
                    .into());
                }
                readers.put_back(connection);
                None
            }
        };
        Ok(Self {
            home,
            options,
            drivers,
            readers,
            notice,
            flushes,
            writer,
        })
    }

    /// The home directory.
    pub fn home(&self) -> &Path {
        self.home.root()
    }

    pub(crate) fn writer(&self) -> Result<&Writer, StoreError> {
        self.writer
            .as_ref()
            .ok_or_else(|| StoreError::Io("the store was opened read-only".to_owned()))
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        self.notice.close();
    }
}

/// A connection that writes, to a store that is made or migrated if need be: by one process,
/// while others wait.
fn connect_or_create(home: &Home, options: &SqliteStoreOptions) -> Result<Connection> {
    // The mark is made last, so that a store that has one is complete.
    if home.mark().exists() && home.database().exists() {
        make_private(&home.database())?;
        match connect_writer(home, options) {
            Err(Failure::Store(StoreError::Io(_))) => {}
            connected => return connected,
        }
    }
    let deadline = Instant::now() + options.busy_timeout.max(MAKING);
    create_private_dir(home.root())?;
    let lock = home.open_lock(&home.making_lock())?;
    loop {
        match lock.try_lock() {
            Ok(()) => break,
            Err(TryLockError::Error(error)) => return Err(error.into()),
            Err(TryLockError::WouldBlock) if Instant::now() >= deadline => {
                let holder = Holder::of_file(&home.making_lock(), None);
                return Err(holder.map_or(StoreError::Busy, Holder::into_error).into());
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOOK_AGAIN),
        }
    }
    home.prepare()?;
    loop {
        // SQLite does not wait when it changes the journal mode; a reader may be in its way.
        match make(home, options).map_err(StoreError::from) {
            Err(StoreError::Busy) if Instant::now() < deadline => std::thread::sleep(LOOK_AGAIN),
            made => return Ok(made?),
        }
    }
}

/// Makes, migrates and seals the store as far as it is not. The caller holds the lock.
fn make(home: &Home, options: &SqliteStoreOptions) -> Result<Connection> {
    refuse_lost_database(home)?;
    let mut connection = open_for_writing(home, options)?;
    refuse_unsealed(&connection, options)?;
    if migrate::version(&connection)? < migrate::NEWEST {
        // Only possible before the first table; the journal mode stays with the file.
        connection.execute_batch("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;")?;
        let key = SealKey::new(options.seal_key.as_ref());
        migrate::migrate(&mut connection, |transaction| {
            MarkKeeper::new(home.clone(), key).begin_unless_marked(transaction)
        })?;
    }
    refuse_other_journal_mode(&connection)?;
    Ok(connection)
}

/// A connection that writes, to a store whose schema is up to date.
pub(crate) fn connect_writer(home: &Home, options: &SqliteStoreOptions) -> Result<Connection> {
    refuse_lost_database(home)?;
    let connection = open_for_writing(home, options)?;
    let found = migrate::version(&connection)?;
    if found < migrate::NEWEST {
        return Err(StoreError::Io(format!(
            "the store has schema {found}, not {}",
            migrate::NEWEST
        ))
        .into());
    }
    refuse_other_journal_mode(&connection)?;
    Ok(connection)
}

fn open_for_writing(home: &Home, options: &SqliteStoreOptions) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(home.database(), flags)?;
    configure(&connection, options)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

/// A history that is not sealed cannot be told from one that was put in its place.
fn refuse_unsealed(connection: &Connection, options: &SqliteStoreOptions) -> Result<()> {
    match &options.sealed_note {
        Some(note) if migrate::version(connection)? < migrate::SEALED && note.exists() => {
            Err(Failure::damaged(format!(
                "this home had a sealed history, and windlass.db is gone or has none; restore a \
                 backup, or remove {} to begin a new history",
                note.display()
            )))
        }
        _ => Ok(()),
    }
}

/// Notes beside the key that the history is sealed.
fn note_seal(options: &SqliteStoreOptions) -> Result<()> {
    let Some(note) = &options.sealed_note else {
        return Ok(());
    };
    match File::options()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(note)
    {
        Ok(file) => file.sync_all()?,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

fn refuse_other_journal_mode(connection: &Connection) -> Result<()> {
    let mode: String = connection.query_row("PRAGMA journal_mode", [], |row| row.get(0))?;
    if mode == "wal" {
        return Ok(());
    }
    Err(Failure::damaged(format!(
        "windlass.db is in journal mode {mode:?}, not \"wal\""
    )))
}

/// A connection that only reads.
pub(crate) fn connect_reader(home: &Home, options: &SqliteStoreOptions) -> Result<Connection> {
    let base = OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = match options.access {
        // Readers of a live store take part in its locking, which writes to the shared index.
        Access::ReadWrite => {
            let connection = Connection::open_with_flags(
                home.database(),
                base | OpenFlags::SQLITE_OPEN_READ_WRITE,
            )?;
            configure(&connection, options)?;
            connection.execute_batch("PRAGMA query_only = ON")?;
            connection
        }
        Access::ReadOnly => {
            let connection = Connection::open_with_flags(
                home.database(),
                base | OpenFlags::SQLITE_OPEN_READ_ONLY,
            )?;
            configure(&connection, options)?;
            connection
        }
    };
    connection.set_prepared_statement_cache_capacity(32);
    Ok(connection)
}

fn configure(connection: &Connection, options: &SqliteStoreOptions) -> Result<()> {
    connection.busy_timeout(options.busy_timeout)?;
    // The log is kept when the last process leaves: its pages are on disk already, and the
    // next process finds a file that need not grow.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.execute_batch(
        "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON; \
         PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -8000; \
         PRAGMA journal_size_limit = 16777216;",
    )?;
    Ok(())
}

/// An empty database next to a log is not a new store but a lost one; SQLite would remove
/// the log and start over.
fn refuse_lost_database(home: &Home) -> Result<()> {
    let length = |path| {
        std::fs::metadata(path)
            .map(|metadata| metadata.len())
            .unwrap_or(0)
    };
    if length(home.database()) == 0 && length(home.wal()) > 0 {
        return Err(Failure::damaged(
            "windlass.db is empty but its write-ahead log is not",
        ));
    }
    Ok(())
}

/// SQLite does not say which file it could not open, nor what it would need.
fn explain(home: &Home, failure: Failure) -> StoreError {
    match &failure {
        Failure::Sql(error) if error.sqlite_error_code() == Some(ErrorCode::CannotOpen) => {
            let path = home.database();
            StoreError::Io(format!(
                "{} cannot be opened ({error}); to be read from a disk that cannot be written, \
                 its -wal and -shm files must be there too",
                path.display()
            ))
        }
        _ => failure.naming_holder(home).into(),
    }
}
