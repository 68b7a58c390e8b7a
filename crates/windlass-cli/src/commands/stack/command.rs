//! What every command of a stack is: an operation with its input, and a view of the answer.

use std::{future::Future, pin::Pin};

use serde_json::Value;
use windlass_types::Problem;

use super::{arguments::Request, consent::call_with_consent, report, show::Screen};
use crate::session::{Report, Session};

/// A command at work.
pub(super) type Work<'a, T = Report> = Pin<Box<dyn Future<Output = Result<T, Problem>> + 'a>>;

/// One command. By default it calls its operation, draws the answer and reports it.
pub(super) trait StackCall {
    /// The operation it calls first, and the input.
    fn request(&self) -> Result<Request, Problem>;

    /// The name that is typed to confirm it, where the operation does not say what it acts on.
    fn confirm_name(&self) -> Option<String> {
        None
    }

    /// Draws the answer.
    fn show(&self, _screen: &Screen<'_>, _output: &Value) {}

    /// Asks a person before the operation is called; what is called then.
    fn agree<'a>(&'a self, _session: &'a Session, request: Request) -> Work<'a, Request> {
        Box::pin(async { Ok(request) })
    }

    /// Does it.
    fn run<'a>(&'a self, session: &'a Session) -> Work<'a> {
        Box::pin(async move {
            let request = self.agree(session, self.request()?).await?;
            let name = self.confirm_name();
            let output = call_with_consent(session, request, name.as_deref()).await?;
            self.show(&Screen::data(&session.printer), &output);
            Ok(report(session, output))
        })
    }
}
