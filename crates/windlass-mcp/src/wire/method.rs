//! The methods a client may name, and the typed request behind each.
//!
//! Not here: what a method does. A method missing from this table is unknown to the
//! whole server, in every era.

use rmcp::model::{
    ClientNotification, ClientRequest, CustomNotification, Extensions, JsonObject, Notification,
    NotificationMetaObject, NotificationNoParam, Request, RequestMetaObject, RequestNoParam,
    RequestOptionalParam,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Why a request could not be built.
#[derive(Debug, PartialEq, Eq)]
pub enum RequestError {
    /// No such method.
    UnknownMethod,
    /// The parameters do not fit the method.
    InvalidParams(String),
}

/// Builds the typed request for a method from its parameters (with `_meta` still inside).
pub fn request_from_parts(
    method: &str,
    mut params: JsonObject,
) -> Result<ClientRequest, RequestError> {
    if !is_known_method(method) {
        return Err(RequestError::UnknownMethod);
    }
    let bad = |reason: String| {
        RequestError::InvalidParams(format!("invalid params for {method}: {reason}"))
    };
    let extensions = take_meta::<RequestMetaObject>(&mut params).map_err(bad)?;
    if is_legacy_only(method) && extensions.get().is_some_and(is_modern) {
        return Err(RequestError::UnknownMethod);
    }
    typed(method, params, extensions).map_err(|error| bad(error.to_string()))
}

/// Whether `_meta` names a protocol version that has no `initialize`.
pub fn is_modern(meta: &RequestMetaObject) -> bool {
    meta.protocol_version()
        .is_some_and(|version| !version.has_initialize())
}

/// Methods that 2026-07-28 no longer has.
fn is_legacy_only(method: &str) -> bool {
    matches!(
        method,
        "initialize"
            | "ping"
            | "logging/setLevel"
            | "resources/subscribe"
            | "resources/unsubscribe"
    )
}

/// Whether this server has the method in at least one era.
pub fn is_known_method(method: &str) -> bool {
    matches!(
        method,
        "initialize"
            | "ping"
            | "server/discover"
            | "completion/complete"
            | "logging/setLevel"
            | "prompts/get"
            | "prompts/list"
            | "resources/list"
            | "resources/templates/list"
            | "resources/read"
            | "resources/subscribe"
            | "resources/unsubscribe"
            | "subscriptions/listen"
            | "tools/call"
            | "tools/list"
            | "tasks/get"
            | "tasks/update"
            | "tasks/cancel"
    )
}

fn typed(
    method: &str,
    params: JsonObject,
    extensions: Extensions,
) -> Result<ClientRequest, serde_json::Error> {
    use ClientRequest as C;
    Ok(match method {
        "tools/call" => C::CallToolRequest(required(params, extensions)?),
        "tools/list" => C::ListToolsRequest(optional(params, extensions)?),
        "server/discover" => C::DiscoverRequest(required(params, extensions)?),
        "initialize" => C::InitializeRequest(required(params, extensions)?),
        "completion/complete" => C::CompleteRequest(required(params, extensions)?),
        "logging/setLevel" => C::SetLevelRequest(required(params, extensions)?),
        "prompts/get" => C::GetPromptRequest(required(params, extensions)?),
        "prompts/list" => C::ListPromptsRequest(optional(params, extensions)?),
        "resources/list" => C::ListResourcesRequest(optional(params, extensions)?),
        "resources/templates/list" => {
            C::ListResourceTemplatesRequest(optional(params, extensions)?)
        }
        "resources/read" => C::ReadResourceRequest(required(params, extensions)?),
        "resources/subscribe" => C::SubscribeRequest(required(params, extensions)?),
        "resources/unsubscribe" => C::UnsubscribeRequest(required(params, extensions)?),
        "subscriptions/listen" => C::SubscriptionsListenRequest(required(params, extensions)?),
        "tasks/get" => C::GetTaskRequest(required(params, extensions)?),
        "tasks/update" => C::UpdateTaskRequest(required(params, extensions)?),
        "tasks/cancel" => C::CancelTaskRequest(required(params, extensions)?),
        _ => C::PingRequest(RequestNoParam {
            method: Default::default(),
            extensions,
        }),
    })
}

/// Builds the typed notification for a method; an unknown one is carried as it is.
pub fn notification_from_parts(
    method: &str,
    mut params: JsonObject,
) -> Result<ClientNotification, String> {
    use ClientNotification as N;
    let extensions = take_meta::<NotificationMetaObject>(&mut params)?;
    Ok(match method {
        "notifications/cancelled" => N::CancelledNotification(notification(params, extensions)?),
        "notifications/progress" => N::ProgressNotification(notification(params, extensions)?),
        "notifications/initialized" => N::InitializedNotification(NotificationNoParam {
            method: Default::default(),
            extensions,
        }),
        "notifications/roots/list_changed" => {
            N::RootsListChangedNotification(NotificationNoParam {
                method: Default::default(),
                extensions,
            })
        }
        _ => {
            let mut custom = CustomNotification::new(method, Some(Value::Object(params)));
            custom.extensions = extensions;
            N::CustomNotification(custom)
        }
    })
}

fn required<M: Default, P: DeserializeOwned>(
    params: JsonObject,
    extensions: Extensions,
) -> Result<Request<M, P>, serde_json::Error> {
    let mut request = Request::new(P::deserialize(Value::Object(params))?);
    request.extensions = extensions;
    Ok(request)
}

fn optional<M: Default, P: DeserializeOwned>(
    params: JsonObject,
    extensions: Extensions,
) -> Result<RequestOptionalParam<M, P>, serde_json::Error> {
    let params = if params.is_empty() {
        None
    } else {
        Some(P::deserialize(Value::Object(params))?)
    };
    Ok(RequestOptionalParam {
        method: M::default(),
        params,
        extensions,
    })
}

fn notification<M: Default, P: DeserializeOwned>(
    params: JsonObject,
    extensions: Extensions,
) -> Result<Notification<M, P>, String> {
    let params = P::deserialize(Value::Object(params)).map_err(|error| error.to_string())?;
    let mut notification = Notification::new(params);
    notification.extensions = extensions;
    Ok(notification)
}

/// Moves `_meta` out of the parameters to where the service loop looks for it.
fn take_meta<T>(params: &mut JsonObject) -> Result<Extensions, String>
where
    T: From<JsonObject> + Clone + Send + Sync + 'static,
{
    let mut extensions = Extensions::new();
    match params.remove("_meta") {
        None | Some(Value::Null) => {}
        Some(Value::Object(meta)) => {
            extensions.insert(T::from(meta));
        }
        Some(_) => return Err("_meta must be an object".to_owned()),
    }
    Ok(extensions)
}
