//! Passing notices between the processes of a home, over a Unix socket beside each driver's file.
//!
//! A watcher connects to the driver that has the run, says which run in one line and hears its
//! notices as lines of JSON. Only the owner of the home gets to the socket: its directory and the
//! socket itself are private. What is too long ends the connection, and so does a watcher that
//! does not read; a driver never waits for one.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use fs_err as fs;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{UnixListener, UnixStream},
    sync::{Semaphore, broadcast::error::RecvError, mpsc},
    task::JoinHandle,
    time::timeout,
};
use windlass_ports::{NoticeSource, ServedNotices};
use windlass_types::{PassingNotice, RunId};

use crate::{
    drivers,
    home::{Home, create_private_dir, make_private},
};

/// Watchers of other processes at once.
const MOST_WATCHERS: usize = 64;
/// The longest line a watcher says, and the longest it hears. A notice's text is bounded; JSON
/// writes a byte of it as six at most.
const LONGEST_QUESTION: u64 = 256;
const LONGEST_LINE: u64 = 64 * 1024;
/// How long a watcher may take to say what it wants, and to read a notice.
const TIMEOUT: Duration = Duration::from_secs(2);
/// Notices that a watcher may be behind.
const BUFFER: usize = 256;
/// The longest path a socket may have, with room to spare on every system.
const LONGEST_PATH: usize = 100;

/// A socket that is served until this is dropped.
struct Served {
    path: PathBuf,
    task: JoinHandle<()>,
}

impl ServedNotices for Served {}

impl Drop for Served {
    fn drop(&mut self) {
        self.task.abort();
        let _ = fs::remove_file(&self.path);
    }
}

/// Serves the notices of a driver of this process.
pub(crate) fn serve(
    home: &Home,
    driver: u64,
    source: Arc<dyn NoticeSource>,
) -> io::Result<Box<dyn ServedNotices>> {
    create_private_dir(&home.drivers())?;
    remove_stale(home);
    let path = home.socket(driver);
    // Numbers are given out once, so a socket of this name is nobody's.
    let _ = fs::remove_file(&path);
    let listener = at_short_path(&path, |short| UnixListener::bind(short))?;
    make_private(&path)?;
    let task = tokio::spawn(accept(listener, source));
    Ok(Box::new(Served { path, task }))
}

/// Removes the sockets of drivers that are gone.
fn remove_stale(home: &Home) {
    let Ok(entries) = fs::read_dir(home.drivers()) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let driver = name.to_str().and_then(|name| name.strip_suffix(".sock"));
        let Some(driver) = driver.and_then(|id| id.parse().ok()) else {
            continue;
        };
        if !drivers::exists(home, driver) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

async fn accept(listener: UnixListener, source: Arc<dyn NoticeSource>) {
    let places = Arc::new(Semaphore::new(MOST_WATCHERS));
    // Dropped with the listener, and every watcher's task with it.
    let mut watchers = tokio::task::JoinSet::new();
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::debug!(%error, "a watcher cannot be accepted");
                tokio::time::sleep(TIMEOUT).await;
                continue;
            }
        };
        while watchers.try_join_next().is_some() {}
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
            continue;
        };
        let source = Arc::clone(&source);
        watchers.spawn(async move {
            // A watcher that is gone or does not read is no error of anybody.
            let _ = tell(stream, &*source).await;
            drop(place);
        });
    }
}

/// Tells one watcher what it wants to hear.
async fn tell(stream: UnixStream, source: &dyn NoticeSource) -> io::Result<()> {
    let (reading, mut writing) = stream.into_split();
    let mut reading = BufReader::new(reading.take(LONGEST_QUESTION));
    let mut question = String::new();
    timeout(TIMEOUT, reading.read_line(&mut question)).await??;
    let run_id = question.strip_suffix('\n').map(str::parse::<RunId>);
    let Some(Ok(run_id)) = run_id else {
        return Ok(());
    };
    let mut notices = source.subscribe(&run_id);
    let mut more = [0];
    loop {
        let notice = tokio::select! {
            notice = notices.recv() => notice,
            // A watcher has nothing more to say: it is gone.
            _ = reading.read(&mut more) => return Ok(()),
        };
        match notice {
            Ok(notice) => {
                let mut line = serde_json::to_vec(&*notice)?;
                line.push(b'\n');
                timeout(TIMEOUT, writing.write_all(&line)).await??;
            }
            Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return Ok(()),
        }
    }
}

/// The notices of a run, from the driver that has it.
pub(crate) async fn hear(
    home: &Home,
    driver: u64,
    run_id: &RunId,
) -> io::Result<mpsc::Receiver<PassingNotice>> {
    let path = home.socket(driver);
    let connect = |short: &Path| std::os::unix::net::UnixStream::connect(short);
    let stream = at_short_path(&path, connect)?;
    stream.set_nonblocking(true)?;
    let mut stream = UnixStream::from_std(stream)?;
    let question = format!("{run_id}\n");
    timeout(TIMEOUT, stream.write_all(question.as_bytes())).await??;
    let (send, receive) = mpsc::channel(BUFFER);
    tokio::spawn(async move {
        tokio::select! {
            heard = listen(stream, &send) => if let Err(error) = heard {
                tracing::debug!(%error, "notices of another process end");
            },
            () = send.closed() => {}
        }
    });
    Ok(receive)
}

async fn listen(stream: UnixStream, send: &mpsc::Sender<PassingNotice>) -> io::Result<()> {
    // Held whole: closing one half would tell the driver that nobody listens.
    let mut reading = BufReader::new(stream);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = (&mut reading)
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut line)
            .await?;
        if read == 0 || line.last() != Some(&b'\n') {
            return Ok(());
        }
        // What another version says and this one does not know is passed over.
        if let Ok(notice) = serde_json::from_slice(&line) {
            let _ = send.try_send(notice);
        }
    }
}

/// Uses a socket's path, or a shorter one to the same place where it is too long for a socket.
fn at_short_path<T>(path: &Path, act: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    if path.as_os_str().len() <= LONGEST_PATH {
        return act(path);
    }
    through_directory(path, act)
}

/// Linux reaches an open directory under a short name.
#[cfg(target_os = "linux")]
fn through_directory<T>(path: &Path, act: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    use std::os::fd::AsRawFd as _;
    let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let directory = fs::File::open(directory)?;
    let short = Path::new("/proc/self/fd").join(directory.file().as_raw_fd().to_string());
    act(&short.join(name))
}

#[cfg(not(target_os = "linux"))]
fn through_directory<T>(path: &Path, _: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    let message = format!("{} is too long for a socket", path.display());
    Err(io::Error::new(io::ErrorKind::InvalidInput, message))
}

#[cfg(test)]
#[path = "relay_tests.rs"]
mod tests;
