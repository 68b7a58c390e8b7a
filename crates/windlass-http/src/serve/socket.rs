//! A socket whose client takes part: closed when it takes nothing of an answer for too long, and
//! closed so that it sees the answer it was sent.

use std::{
    future::Future as _,
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    time::Sleep,
};

use super::places::Activity;

/// How much of what a client still sends is read after the answer, and for how long. A socket that
/// is closed with unread bytes takes the answer back.
const LINGER_BYTES: usize = 64 * 1024 * 1024;
const LINGER: Duration = Duration::from_secs(5);

/// A connection's socket.
pub(super) struct Socket {
    stream: TcpStream,
    activity: Arc<Activity>,
    stall_timeout: Duration,
    /// Armed while the client takes nothing.
    stalled: Option<Pin<Box<Sleep>>>,
    /// Armed once everything is said.
    lingering: Option<(Pin<Box<Sleep>>, usize)>,
}

impl Socket {
    pub(super) const fn new(
        stream: TcpStream,
        activity: Arc<Activity>,
        stall_timeout: Duration,
    ) -> Self {
        Self {
            stream,
            activity,
            stall_timeout,
            stalled: None,
            lingering: None,
        }
    }

    fn written(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.stalled = None;
            self.activity.touch();
            return written;
        }
        let timeout = self.stall_timeout;
        let stalled = self
            .stalled
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(timeout)));
        ready!(stalled.as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(
            io::ErrorKind::TimedOut,
            "the client takes nothing of its answer",
        )))
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.written(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.written(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.lingering.is_none() {
            ready!(Pin::new(&mut this.stream).poll_shutdown(context))?;
            if !this.activity.sends_on() {
                return Poll::Ready(Ok(()));
            }
        }
        let (deadline, left) = this
            .lingering
            .get_or_insert_with(|| (Box::pin(tokio::time::sleep(LINGER)), LINGER_BYTES));
        let mut scratch = [0; 16 * 1024];
        loop {
            if deadline.as_mut().poll(context).is_ready() {
                return Poll::Ready(Ok(()));
            }
            let mut buffer = ReadBuf::new(&mut scratch);
            // Whatever ends it, everything that could be said has been.
            let Ok(()) = ready!(Pin::new(&mut this.stream).poll_read(context, &mut buffer)) else {
                return Poll::Ready(Ok(()));
            };
            let count = buffer.filled().len();
            *left = left.saturating_sub(count);
            if count == 0 || *left == 0 {
                return Poll::Ready(Ok(()));
            }
        }
    }
}
