//! A refusal on the JSON-RPC level: which request, which code, why, and what to do.
//!
//! Not here: failures of a tool (a tool result with `isError`). Made by the frame reader
//! and the transports; written as one JSON object.

use std::borrow::Cow;

use rmcp::model::{ErrorCode, ErrorData, RequestId};
use serde::{Serialize, Serializer, ser::SerializeStruct};

/// The codes this crate answers with by itself.
pub mod codes {
    use rmcp::model::ErrorCode;

    /// The bytes are not JSON, or not within the limits for it.
    pub const PARSE: ErrorCode = ErrorCode::PARSE_ERROR;
    /// JSON, but no request.
    pub const INVALID_REQUEST: ErrorCode = ErrorCode::INVALID_REQUEST;
    /// A method this server does not have.
    pub const METHOD_NOT_FOUND: ErrorCode = ErrorCode::METHOD_NOT_FOUND;
    /// The parameters are missing or of the wrong shape.
    pub const INVALID_PARAMS: ErrorCode = ErrorCode::INVALID_PARAMS;
    /// Too many requests wait for an answer on one connection.
    pub const BUSY: ErrorCode = ErrorCode(-32000);
}

/// One refused message.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The request it answers; `None` when the id could not be read.
    pub id: Option<RequestId>,
    /// Code, message and data.
    pub error: ErrorData,
}

impl Fault {
    /// A refusal of the request `id`.
    pub fn new(
        id: Option<RequestId>,
        code: ErrorCode,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            id,
            error: ErrorData::new(code, message, None),
        }
    }

    /// The bytes are not JSON.
    pub fn parse(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(None, codes::PARSE, message)
    }

    /// JSON, but no request.
    pub fn invalid_request(id: Option<RequestId>, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(id, codes::INVALID_REQUEST, message)
    }

    /// Parameters missing or of the wrong shape.
    pub fn invalid_params(id: Option<RequestId>, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(id, codes::INVALID_PARAMS, message)
    }
}

// By hand: rmcp leaves an unknown id out, JSON-RPC 2.0 wants `null` there.
impl Serialize for Fault {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Fault", 3)?;
        object.serialize_field("jsonrpc", "2.0")?;
        object.serialize_field("id", &self.id)?;
        object.serialize_field("error", &self.error)?;
        object.end()
    }
}
