//! Opens the process's standard input and output for the event loop.
//!
//! tokio's own handles pass every read and write through a blocking thread, which halves
//! the throughput. Pipes and sockets, which is what clients give a server they start, can
//! be driven without that thread; files and terminals cannot and use tokio's handles.

use tokio::io::{AsyncRead, AsyncWrite};

/// A boxed input.
pub type Input = Box<dyn AsyncRead + Send + Unpin>;
/// A boxed output.
pub type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// Standard input and output. Call it inside a tokio runtime with IO enabled.
pub fn open_stdio() -> (Input, Output) {
    #[cfg(target_os = "linux")]
    {
        (
            linux::input().unwrap_or_else(|| Box::new(tokio::io::stdin())),
            linux::output().unwrap_or_else(|| Box::new(tokio::io::stdout())),
        )
    }
    #[cfg(not(target_os = "linux"))]
    (Box::new(tokio::io::stdin()), Box::new(tokio::io::stdout()))
}

#[cfg(target_os = "linux")]
mod linux {
    //! A pipe is opened again through `/proc`, so that non-blocking mode stays ours alone
    //! and does not reach anyone else who holds the old descriptor. A socket cannot be opened
    //! again; its duplicate shares the mode, which is harmless for a private socket pair.

    use std::os::fd::{AsFd, OwnedFd};

    use rustix::fs::{FileType, Mode, OFlags, fstat, open};
    use tokio::net::{UnixStream, unix::pipe};

    use super::{Input, Output};

    pub fn input() -> Option<Input> {
        let stdin = std::io::stdin();
        match file_type(&stdin)? {
            FileType::Fifo => {
                let fd = open(
                    "/proc/self/fd/0",
                    OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC,
                    Mode::empty(),
                );
                Some(Box::new(pipe::Receiver::from_owned_fd(fd.ok()?).ok()?))
            }
            FileType::Socket => Some(Box::new(socket(stdin.as_fd().try_clone_to_owned().ok()?)?)),
            _ => None,
        }
    }

    pub fn output() -> Option<Output> {
        let stdout = std::io::stdout();
        match file_type(&stdout)? {
            FileType::Fifo => {
                let fd = open(
                    "/proc/self/fd/1",
                    OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC,
                    Mode::empty(),
                );
                Some(Box::new(pipe::Sender::from_owned_fd(fd.ok()?).ok()?))
            }
            FileType::Socket => Some(Box::new(socket(stdout.as_fd().try_clone_to_owned().ok()?)?)),
            _ => None,
        }
    }

    fn file_type(fd: impl AsFd) -> Option<FileType> {
        fstat(fd)
            .ok()
            .map(|stat| FileType::from_raw_mode(stat.st_mode))
    }

    fn socket(fd: OwnedFd) -> Option<UnixStream> {
        let stream = std::os::unix::net::UnixStream::from(fd);
        stream.set_nonblocking(true).ok()?;
        UnixStream::from_std(stream).ok()
    }
}
