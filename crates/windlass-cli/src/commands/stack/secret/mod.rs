//! `windlass stack secret`: secrets of a region. Values are never shown whole.

pub(super) mod create;
pub(super) mod delete;
pub(super) mod get;

use clap::{Args, Subcommand};
use windlass_types::Problem;

use super::arguments::{Input, Target, filled};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum SecretCommand {
    /// Create a secret, or a new version of it.
    Create(create::CreateArgs),
    /// Show a secret, masked.
    Get(get::GetArgs),
    /// Schedule a secret's deletion.
    Delete(delete::DeleteArgs),
}

// A secret and where it is.
#[derive(Args, Clone, Debug)]
struct Named {
    /// The secret.
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// The secret, by flag.
    #[arg(long, alias = "secretName", value_name = "NAME")]
    secret_name: Option<String>,
    #[command(flatten)]
    target: Target,
}

impl Named {
    fn name(&self) -> Result<Option<String>, Problem> {
        let [name] = filled([self.secret_name.as_deref()], &[&self.name])?;
        Ok(name)
    }

    fn input(&self) -> Result<Input, Problem> {
        Ok(Input::new(&self.target).text("secretName", self.name()?.as_deref()))
    }
}
