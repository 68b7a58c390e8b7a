//! Which protocol version is spoken, and what that changes.
//!
//! `initialize` is answered with the version asked for when it is one of the three legacy
//! ones, else with 2025-06-18. 2026-07-28 has no `initialize`: every request names it in
//! `_meta`. Not here: the order of messages (the transports). Called by the handlers.

use std::borrow::Cow;

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CustomRequest, InitializeRequestParams, InitializeResult, JsonObject, ProtocolVersion,
    },
    service::RequestContext,
};
use serde_json::Value;

use crate::wire::{RequestError, codes, is_modern, request_from_parts, unknown_method};

/// The versions served, oldest first.
pub const SUPPORTED: &[ProtocolVersion] = &[
    ProtocolVersion::V_2025_03_26,
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_11_25,
    ProtocolVersion::V_2026_07_28,
];

/// What `initialize` falls back to when the version asked for is none of ours.
pub const FALLBACK: ProtocolVersion = ProtocolVersion::V_2025_06_18;

/// The two families of protocol versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// 2025-03-26 to 2025-11-25: a session opened by `initialize`.
    Legacy,
    /// 2026-07-28: every request stands for itself.
    Modern,
}

impl Era {
    /// The era of one request.
    pub fn of(context: &RequestContext<RoleServer>) -> Self {
        match context.protocol_version() {
            Some(version) if !version.has_initialize() => Self::Modern,
            _ => Self::Legacy,
        }
    }
}

/// The versions served, in the form handlers return.
pub fn supported_versions() -> Cow<'static, [ProtocolVersion]> {
    Cow::Borrowed(SUPPORTED)
}

/// Answers `initialize`.
pub fn initialize<H: ServerHandler>(
    handler: &H,
    request: &InitializeRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<InitializeResult, ErrorData> {
    if is_modern(&context.meta) {
        return Err(unknown_method(None, "initialize").error);
    }
    let mut result = handler.negotiate_initialize(request)?;
    // Extensions, Tasks among them, belong to the modern era.
    result.capabilities.extensions = None;
    let mut peer = request.clone();
    peer.protocol_version = result.protocol_version.clone();
    context.peer.set_peer_info(peer);
    Ok(result)
}

/// Refuses a legacy method in the modern era.
pub fn legacy_only(method: &str, context: &RequestContext<RoleServer>) -> Result<(), ErrorData> {
    match Era::of(context) {
        Era::Legacy => Ok(()),
        Era::Modern => Err(unknown_method(None, method).error),
    }
}

/// Answers a request that fits none of the typed ones: an unknown method, or a known one
/// whose parameters do not fit it.
pub fn refuse_custom(
    mut request: CustomRequest,
    context: &RequestContext<RoleServer>,
) -> ErrorData {
    let mut params = match request.params.take() {
        Some(Value::Object(params)) => params,
        Some(Value::Null) | None => JsonObject::new(),
        Some(_) => JsonObject::from_iter([("_meta".to_owned(), Value::Bool(false))]),
    };
    // The service loop has moved `_meta` to the context.
    let meta = &context.meta.0.0;
    if !meta.is_empty() {
        params.insert("_meta".to_owned(), Value::Object(meta.clone()));
    }
    match request_from_parts(&request.method, params) {
        Err(RequestError::InvalidParams(reason)) => {
            ErrorData::new(codes::INVALID_PARAMS, reason, None)
        }
        Ok(_) | Err(RequestError::UnknownMethod) => unknown_method(None, &request.method).error,
    }
}
