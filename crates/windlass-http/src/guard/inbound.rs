//! A request body that may not be larger than the limit and must arrive in time.

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    BoxError,
    body::{Body, Bytes, HttpBody},
};
use hyper::body::{Frame, SizeHint};
use tokio::time::Sleep;

/// Why a body ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum InboundError {
    /// It is larger than the limit.
    #[error("the request body is larger than {0} bytes")]
    TooLarge(usize),
    /// It did not arrive in time.
    #[error("the request body did not arrive in time")]
    TooSlow,
}

impl InboundError {
    /// The reason somewhere in a chain of errors.
    pub(crate) fn within(error: &(dyn std::error::Error + 'static)) -> Option<Self> {
        std::iter::successors(Some(error), |error| error.source())
            .find_map(|error| error.downcast_ref().copied())
    }
}

pub(crate) struct Inbound {
    body: Body,
    limit: usize,
    read: usize,
    timeout: Duration,
    // Armed when the body first keeps us waiting; most are complete by then.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl Inbound {
    /// The same body under guard.
    pub(crate) fn guard(body: Body, limit: usize, timeout: Duration) -> Body {
        if body.is_end_stream() {
            return body;
        }
        Body::new(Self {
            body,
            limit,
            read: 0,
            timeout,
            deadline: None,
        })
    }
}

impl HttpBody for Inbound {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = &mut *self;
        match Pin::new(&mut this.body).poll_frame(context) {
            Poll::Ready(Some(Ok(frame))) => {
                this.read += frame.data_ref().map_or(0, Bytes::len);
                if this.read > this.limit {
                    return Poll::Ready(Some(Err(InboundError::TooLarge(this.limit).into())));
                }
                Poll::Ready(Some(Ok(frame)))
            }
            Poll::Ready(end) => Poll::Ready(end.map(|result| result.map_err(Into::into))),
            Poll::Pending => {
                let deadline = this
                    .deadline
                    .get_or_insert_with(|| Box::pin(tokio::time::sleep(this.timeout)));
                match deadline.as_mut().poll(context) {
                    Poll::Ready(()) => Poll::Ready(Some(Err(InboundError::TooSlow.into()))),
                    Poll::Pending => Poll::Pending,
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
