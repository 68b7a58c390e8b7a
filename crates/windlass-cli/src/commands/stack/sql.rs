//! `windlass stack sql`: one reading statement.

use clap::Args;
use serde_json::Value;
use windlass_types::Problem;

use super::{
    arguments::{Deployed, Request, filled},
    command::StackCall,
    show::{self, Screen, is, list},
};
use crate::output::Tone;

#[derive(Args, Debug)]
pub(crate) struct SqlArgs {
    /// The database of the config.
    #[arg(value_name = "RESOURCE")]
    resource: Option<String>,
    /// The statement.
    #[arg(value_name = "SQL")]
    statement: Option<String>,
    #[command(flatten)]
    stack: Deployed,
    /// The database, by flag.
    #[arg(long, alias = "resourceName", value_name = "NAME")]
    resource_name: Option<String>,
    /// The statement, by flag.
    #[arg(long, value_name = "SQL", allow_hyphen_values = true)]
    sql: Option<String>,
    /// How many rows at most. Default: 1000.
    #[arg(long, value_name = "ROWS")]
    limit: Option<u64>,
    /// How long the statement may take. Default: 30000.
    #[arg(long, value_name = "MILLISECONDS")]
    timeout: Option<u64>,
    /// The bastion to go through, of a database inside a VPC.
    #[arg(long, alias = "bastionResource", value_name = "NAME")]
    bastion_resource: Option<String>,
    /// The local port of the connection through the bastion. Default: a free one.
    #[arg(long, value_name = "PORT", requires = "bastion_resource")]
    port: Option<u16>,
}

impl StackCall for SqlArgs {
    fn request(&self) -> Result<Request, Problem> {
        let [resource, sql] = filled(
            [self.resource_name.as_deref(), self.sql.as_deref()],
            &[&self.resource, &self.statement],
        )?;
        Ok(self
            .stack
            .input()
            .text("resourceName", resource.as_deref())
            .text("sql", sql.as_deref())
            .number("limit", self.limit)
            .number("timeout", self.timeout)
            .text("bastionResource", self.bastion_resource.as_deref())
            .number("port", self.port.map(u64::from))
            .request("stack.sql"))
    }

    fn show(&self, screen: &Screen<'_>, output: &Value) {
        show(screen, output);
    }
}

pub(super) fn show(screen: &Screen<'_>, output: &Value) {
    show::rows::rows(screen, list(output, "fields"), list(output, "rows"));
    if is(output, "truncated") {
        screen.toned(Tone::Dim, "there are more rows");
    }
}
