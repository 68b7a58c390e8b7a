//! A streamed answer that keeps its caller's place until it ends.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use windlass_engine::access::Permit;

use super::streams::StreamPlace;
use crate::traffic::Raised;

pub(crate) struct Held {
    body: Body,
    // All given back when the stream ends or the client goes.
    _permit: Option<Permit>,
    _stream: Raised,
    _place: Option<StreamPlace>,
}

impl Held {
    pub(crate) fn hold(
        body: Body,
        permit: Option<Permit>,
        stream: Raised,
        place: Option<StreamPlace>,
    ) -> Body {
        Body::new(Self {
            body,
            _permit: permit,
            _stream: stream,
            _place: place,
        })
    }
}

impl HttpBody for Held {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
