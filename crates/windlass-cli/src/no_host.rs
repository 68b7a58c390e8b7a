//! A host that opens and serves nothing, for tests of commands that need none.

use std::path::{Path, PathBuf};

use serde_json::Value;
use windlass_engine::{
    contract::{Contract, Plain},
    operation::Catalogue,
};
use windlass_ports::BoxFuture;
use windlass_types::Problem;

use crate::{Host, HttpRequest, McpRequest, OpenOptions, Opened, TourRequest, TuiRequest};

pub(crate) struct NoHost;

impl Host for NoHost {
    fn contract(&self, _: &str) -> &'static dyn Contract {
        &Plain
    }

    fn line_contract(&self) -> &'static dyn Contract {
        &Plain
    }

    fn open<'a>(&'a self, _: &'a OpenOptions) -> BoxFuture<'a, Result<Opened, Problem>> {
        Box::pin(async { Err(Problem::internal("test", "not here")) })
    }

    fn serve_stdio<'a>(&'a self, _: Opened, _: McpRequest) -> BoxFuture<'a, Result<(), Problem>> {
        Box::pin(async { Ok(()) })
    }

    fn serve_http<'a>(&'a self, _: Opened, _: HttpRequest) -> BoxFuture<'a, Result<(), Problem>> {
        Box::pin(async { Ok(()) })
    }

    fn show_tui<'a>(&'a self, _: Opened, _: TuiRequest) -> BoxFuture<'a, Result<(), Problem>> {
        Box::pin(async { Ok(()) })
    }

    fn run_dev_manager<'a>(
        &'a self,
        _: &'a OpenOptions,
        _: &'a Path,
    ) -> BoxFuture<'a, Result<(), Problem>> {
        Box::pin(async { Ok(()) })
    }

    fn serve_double<'a>(&'a self) -> BoxFuture<'a, Result<(), Problem>> {
        Box::pin(async { Ok(()) })
    }

    fn play_tour(&self, _: TourRequest<'_>) -> Result<Value, Problem> {
        Ok(Value::Null)
    }

    fn generate(&self, _: &Catalogue) -> Result<Vec<(PathBuf, String)>, Problem> {
        Ok(Vec::new())
    }

    fn man_pages(&self) -> Result<Vec<(String, String)>, Problem> {
        Ok(Vec::new())
    }

    fn command_page(&self, command: &clap::Command, name: &str) -> String {
        format!("page of {name}: {}", command.get_name())
    }
}
