//! `windlass stack dev start`.

use clap::Args;
use windlass_types::Problem;

use super::status;
use crate::{
    commands::stack::{
        arguments::{Input, Request, Target},
        call,
        command::{StackCall, Work},
        report,
        show::Screen,
    },
    session::Session,
};

#[derive(Args, Debug)]
pub(crate) struct StartArgs {
    #[command(flatten)]
    pub(super) target: Target,
    /// Only these resources, by name, or `all`. Default: all.
    #[arg(long, alias = "resource", value_name = "NAMES", value_delimiter = ',')]
    resources: Vec<String>,
    /// Resources to use as they are deployed; the others run here.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    remote: Vec<String>,
    /// The port of the session's HTTP API. Default: 7331, or the next free one.
    #[arg(long, alias = "agentPort", value_name = "PORT")]
    agent_port: Option<u16>,
    /// Begin with empty databases.
    #[arg(long, alias = "freshDb")]
    fresh_db: bool,
}

impl StackCall for StartArgs {
    fn request(&self) -> Result<Request, Problem> {
        Ok(Input::new(&self.target)
            .list("resources", &self.resources)
            .list("remote", &self.remote)
            .number("agentPort", self.agent_port.map(u64::from))
            .flag("freshDb", self.fresh_db)
            .request("stack.dev_start"))
    }

    fn run<'a>(&'a self, session: &'a Session) -> Work<'a> {
        Box::pin(async move {
            session.printer.notice("starting …");
            let output = call::call(session, self.request()?).await?;
            status::show(&Screen::data(&session.printer), &output);
            session.printer.hint("windlass stack dev logs --follow");
            session.printer.hint("windlass stack dev stop");
            Ok(report(session, output))
        })
    }
}
