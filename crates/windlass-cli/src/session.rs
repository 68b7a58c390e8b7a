//! One command at work: an open installation, the printer, and calls through the catalogue.

use serde_json::Value;
use windlass_engine::{
    Engine,
    operation::{Answer, CallContext, CallRequest, Catalogue},
};
use windlass_ports::entropy::random;
use windlass_types::{Principal, Problem, Surface};

use crate::{Interrupt, host::Opened, output::Printer};

/// What a command that needs the engine works with.
pub(crate) struct Session {
    pub(crate) opened: Opened,
    pub(crate) printer: Printer,
    pub(crate) interrupt: Interrupt,
}

/// What a command answers: a sentence and, for machines, the document.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) message: String,
    pub(crate) data: Value,
}

impl Report {
    /// A report.
    pub(crate) fn new(message: impl Into<String>, data: Value) -> Self {
        Self {
            message: message.into(),
            data,
        }
    }
}

impl Session {
    /// Every operation.
    pub(crate) fn catalogue(&self) -> &Catalogue {
        &self.opened.catalogue
    }

    /// The engine.
    pub(crate) fn engine(&self) -> &Engine {
        self.opened.catalogue.engine()
    }

    /// The user.
    pub(crate) fn principal(&self) -> &Principal {
        &self.opened.principal
    }

    /// Calls an operation as the user of the command line.
    pub(crate) async fn call(&self, operation: &str, input: Value) -> Result<Answer, Problem> {
        self.call_as(operation, input, self.request_id()).await
    }

    /// Calls an operation under a known request id.
    pub(crate) async fn call_as(
        &self,
        operation: &str,
        input: Value,
        request_id: String,
    ) -> Result<Answer, Problem> {
        let context = CallContext {
            principal: self.principal().clone(),
            surface: Surface::Cli,
            request_id,
        };
        let request = CallRequest {
            operation: operation.to_owned(),
            input,
            context,
        };
        self.catalogue().call(request).await
    }

    /// A fresh request id.
    pub(crate) fn request_id(&self) -> String {
        format!("req_{}", hex::encode(random::<12>(&*self.engine().entropy)))
    }

    /// Text as it may leave the process.
    pub(crate) fn redact(&self, text: &str) -> String {
        self.engine().redactor.redact(text).into_owned()
    }
}
