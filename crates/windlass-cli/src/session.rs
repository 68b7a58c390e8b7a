//! One command at work: an open installation, the printer, and calls through the catalogue.

use serde_json::Value;
use windlass_engine::{
    Engine,
    contract::Contract,
    operation::{Answer, Begun, CallContext, CallRequest, Catalogue, Pending, Terms},
};
use windlass_ports::entropy::random;
use windlass_types::{Principal, Problem, Surface};

use crate::{Interrupt, host::Opened, output::Printer};

/// What a command that needs the engine works with.
pub(crate) struct Session {
    pub(crate) opened: Opened,
    pub(crate) printer: Printer,
    pub(crate) interrupt: Interrupt,
    /// Ties every call of this command, its failure and its audit entries together.
    pub(crate) request_id: String,
}

/// What a command answers: a sentence and, for machines, the document.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) message: String,
    pub(crate) data: Value,
    pub(crate) ending: Ending,
}

/// What is left to do once a command has answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The document is printed for those who asked for one.
    #[default]
    Document,
    /// The same, and the exit code says that what was looked for was found.
    Found,
    /// The same, and the exit code says that checks found something that stands in the way.
    Unsound,
    /// Nothing: the command has printed its documents itself.
    Streamed,
    /// The document is printed, and the exit code is that of a program that was run.
    Exit(u8),
}

impl Report {
    /// A report.
    pub(crate) fn new(message: impl Into<String>, data: Value) -> Self {
        Self {
            message: message.into(),
            data,
            ending: Ending::default(),
        }
    }

    /// The same, with an exit code of its own when what was looked for was found.
    #[must_use]
    pub(crate) fn found(mut self, found: bool) -> Self {
        if found {
            self.ending = Ending::Found;
        }
        self
    }

    /// The same, with an exit code of its own unless everything is sound.
    #[must_use]
    pub(crate) fn sound(mut self, sound: bool) -> Self {
        if !sound {
            self.ending = Ending::Unsound;
        }
        self
    }
}

impl Session {
    /// A command on an open installation.
    pub(crate) fn new(opened: Opened, printer: &Printer, interrupt: Interrupt) -> Self {
        let random = random(&*opened.catalogue.engine().entropy);
        Self {
            opened,
            printer: printer.clone(),
            interrupt,
            request_id: format!("req_{}", windlass_types::id::base32(random)),
        }
    }

    /// Every operation.
    pub(crate) fn catalogue(&self) -> &Catalogue {
        &self.opened.catalogue
    }

    /// The contract of an operation.
    pub(crate) fn contract(&self, operation: &str) -> &'static dyn Contract {
        self.catalogue().contract(operation)
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
        let request = CallRequest {
            operation: operation.to_owned(),
            input,
            context: self.context(Terms::default()),
        };
        // What an operation keeps while it works is large; commands hold several of these.
        Box::pin(self.catalogue().call(request)).await
    }

    /// The same without waiting for a run.
    pub(crate) async fn begin(&self, operation: &str, input: Value) -> Result<Begun, Problem> {
        let request = CallRequest {
            operation: operation.to_owned(),
            input,
            context: self.context(Terms::default()),
        };
        Box::pin(self.catalogue().begin(request)).await
    }

    /// Waits for the answer that a run will have.
    pub(crate) async fn wait(&self, pending: Pending) -> Result<Answer, Problem> {
        let context = self.context(Terms::default());
        Box::pin(self.catalogue().wait(pending, context)).await
    }

    pub(crate) fn context(&self, terms: Terms) -> CallContext {
        CallContext {
            principal: self.principal().clone(),
            surface: Surface::Cli,
            request_id: self.request_id.clone(),
            directory: std::env::current_dir().ok(),
            terms,
        }
    }

    /// Text as it may leave the process.
    pub(crate) fn redact(&self, text: &str) -> String {
        self.engine().redactor.redact(text).into_owned()
    }
}
