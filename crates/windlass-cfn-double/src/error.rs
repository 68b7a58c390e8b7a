//! What a refused call says: code, HTTP status, message. How it is written is each protocol's business.

/// A refusal in the words of AWS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    pub code: String,
    pub status: u16,
    pub message: String,
}

impl ApiError {
    pub fn new(code: &str, status: u16, message: impl Into<String>) -> ApiError {
        ApiError {
            code: code.to_owned(),
            status,
            message: message.into(),
        }
    }

    pub fn validation(message: impl Into<String>) -> ApiError {
        ApiError::new("ValidationError", 400, message)
    }

    pub fn template(message: impl std::fmt::Display) -> ApiError {
        ApiError::validation(format!("Template format error: {message}"))
    }

    /// The caller's fault (`Sender`) or the service's (`Receiver`).
    pub fn kind(&self) -> &'static str {
        if self.status < 500 {
            "Sender"
        } else {
            "Receiver"
        }
    }
}
