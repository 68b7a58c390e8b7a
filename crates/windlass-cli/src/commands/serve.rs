//! `windlass serve`: the daemon. Also the flags and the work it shares with `windlass mcp serve`.

use std::{net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use clap::Args;
use serde_json::json;
use windlass_types::Problem;

use super::ops::known_toolset;
use crate::{
    Host, HttpRequest, OpenOptions, ToolList, Toolsets,
    flow::keep_driving,
    session::{Report, Session},
};

#[derive(Args, Debug)]
pub(crate) struct ServeArgs {
    /// The address to listen on. Default: the settings file's, or 127.0.0.1:7717.
    #[arg(long, value_name = "ADDR")]
    listen: Option<SocketAddr>,
    /// Let callers in without an API key; only on a loopback address.
    #[arg(long)]
    no_auth: bool,
    #[command(flatten)]
    tools: ToolArgs,
}

// Which tools MCP clients are offered.
#[derive(Args, Clone, Debug)]
pub(crate) struct ToolArgs {
    /// Offer only these toolsets, separated by commas. `default` is all but `admin`; `all` is every
    /// toolset.
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        default_value = "default"
    )]
    toolset: Vec<String>,
    /// Offer one tool per operation, or a few that find and call the others.
    #[arg(long, value_name = "LIST", value_enum, default_value_t)]
    tools: ToolList,
    /// The project directory calls work in. Default: the current directory on standard input and
    /// output, none over HTTP.
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Offer the fixtures of the conformance suite instead of the product's tools.
    // Hidden, so that generated documents are the same for both builds.
    #[cfg(feature = "conformance-fixtures")]
    #[arg(long, hide = true)]
    fixtures: bool,
}

impl ToolArgs {
    /// Offers one toolset where none was named.
    pub(super) fn limit_to(&mut self, toolset: &str) {
        if self.toolset == ["default"] {
            self.toolset = vec![toolset.to_owned()];
        }
    }

    pub(super) const fn tools(&self) -> ToolList {
        self.tools
    }

    #[cfg(feature = "conformance-fixtures")]
    pub(super) const fn fixtures(&self) -> bool {
        self.fixtures
    }

    #[cfg(not(feature = "conformance-fixtures"))]
    #[expect(clippy::unused_self, reason = "the same call in both builds")]
    pub(super) const fn fixtures(&self) -> bool {
        false
    }

    /// The project, which must exist.
    pub(super) fn project(&self) -> Result<Option<PathBuf>, Problem> {
        let Some(directory) = &self.project else {
            return Ok(None);
        };
        let found = directory.canonicalize().ok().filter(|path| path.is_dir());
        found.map(Some).ok_or_else(|| {
            Problem::invalid(
                "project",
                "directory",
                format!("{} is not a directory", directory.display()),
            )
        })
    }

    /// The named toolsets, every one of which must exist.
    pub(super) fn toolsets(&self, known: &[&str]) -> Result<Toolsets, Problem> {
        let named: Vec<&str> = self
            .toolset
            .iter()
            .map(|name| name.trim())
            .filter(|name| !name.is_empty())
            .collect();
        if named.contains(&"all") {
            let all = known.iter().map(|name| (*name).to_owned());
            return Ok(Toolsets::Named(all.collect()));
        }
        if named.is_empty() || named == ["default"] {
            return Ok(Toolsets::Default);
        }
        for name in &named {
            known_toolset(known, name)?;
        }
        Ok(Toolsets::Named(
            named.into_iter().map(str::to_owned).collect(),
        ))
    }
}

impl ServeArgs {
    pub(crate) async fn run(
        self,
        session: &Session,
        host: &dyn Host,
        options: &OpenOptions,
    ) -> Result<Report, Problem> {
        let listen = self.listen.unwrap_or(options.settings.server.listen);
        serve_http(
            session,
            host,
            options,
            Listen {
                address: listen,
                no_auth: self.no_auth,
                api: true,
            },
            &self.tools,
        )
        .await
    }
}

/// Where and for whom to listen.
pub(super) struct Listen {
    pub(super) address: SocketAddr,
    pub(super) no_auth: bool,
    /// Whether the HTTP API is served as well as MCP.
    pub(super) api: bool,
}

/// Drives runs and serves HTTP until asked to stop.
pub(super) async fn serve_http(
    session: &Session,
    host: &dyn Host,
    options: &OpenOptions,
    listen: Listen,
    tools: &ToolArgs,
) -> Result<Report, Problem> {
    if listen.no_auth && !listen.address.ip().is_loopback() {
        return Err(Problem::invalid(
            "no-auth",
            "loopback",
            format!(
                "--no-auth would let anyone who reaches {} act as you",
                listen.address
            ),
        )
        .next(
            "listen on 127.0.0.1, or drop --no-auth and create a key: windlass keys create NAME",
        ));
    }
    if let Some(warning) = plain_http(
        listen.address,
        options.settings.server.public_url.as_deref(),
    ) {
        session.printer.notice(&format!("warning: {warning}"));
    }
    let printer = session.printer.clone();
    let request = HttpRequest {
        listen: listen.address,
        toolsets: tools.toolsets(&session.catalogue().toolsets())?,
        tools: tools.tools(),
        no_auth: listen.no_auth,
        api: listen.api,
        mcp: true,
        fixtures: tools.fixtures(),
        project: tools.project()?,
        home: options.home.clone(),
        settings: options.settings.clone(),
        announce: Arc::new(move |address| printer.notice(&format!("listening on {address}"))),
        shutdown: session.interrupt.clone(),
    };
    let opened = session.opened.clone();
    drive_while(session, Duration::ZERO, host.serve_http(opened, request)).await?;
    Ok(Report::new("stopped", json!({ "stopped": true })))
}

/// What is risky about listening on this address: keys and answers go over the network in clear
/// text, unless a proxy in front speaks TLS to clients, which a public `https` address says.
pub(super) fn plain_http(address: SocketAddr, public_url: Option<&str>) -> Option<String> {
    let is_behind_tls = public_url.is_some_and(|url| url.starts_with("https://"));
    if address.ip().is_loopback() || is_behind_tls {
        return None;
    }
    let reach = match address.ip().is_unspecified() {
        true => "every network of this machine".to_owned(),
        false => address.ip().to_string(),
    };
    Some(format!(
        "{address} is plain HTTP on {reach}: API keys and answers can be read on the way; \
         listen on 127.0.0.1 behind a proxy that speaks TLS, and set server.public_url to its https address"
    ))
}

/// Drives runs for as long as `serving` lasts, from a moment after it has begun.
pub(super) async fn drive_while(
    session: &Session,
    head_start: Duration,
    serving: impl Future<Output = Result<(), Problem>>,
) -> Result<(), Problem> {
    let (ended, stop) = crate::Interrupt::manual();
    let engine = session.engine().clone();
    let driving = tokio::spawn(async move {
        tokio::select! {
            () = tokio::time::sleep(head_start) => {}
            () = stop.wait() => {}
        }
        keep_driving(&engine, &stop).await;
    });
    let outcome = serving.await;
    // The server lets calls in progress end first; they may still need the driver.
    ended();
    if driving.await.is_err() {
        tracing::error!("the driver ended abnormally; unfinished runs resume at the next start");
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools(names: &[&str]) -> ToolArgs {
        ToolArgs {
            toolset: names.iter().map(|name| (*name).to_owned()).collect(),
            tools: ToolList::Full,
            project: None,
            #[cfg(feature = "conformance-fixtures")]
            fixtures: false,
        }
    }

    #[test]
    fn plain_http_that_others_reach_is_a_risk() {
        for (address, public_url, expected) in [
            ("127.0.0.1:7717", None, None),
            ("[::1]:7717", None, None),
            ("0.0.0.0:7717", Some("https://windlass.example.org"), None),
            ("0.0.0.0:7717", None, Some("every network")),
            (
                "[::]:7717",
                Some("http://windlass.example.org"),
                Some("every network"),
            ),
            ("192.0.2.7:80", None, Some("192.0.2.7")),
        ] {
            let risk = plain_http(address.parse().unwrap(), public_url);
            match expected {
                None => assert_eq!(risk, None, "{address}"),
                Some(words) => assert!(risk.unwrap().contains(words), "{address}"),
            }
        }
    }

    #[test]
    fn toolsets_must_exist() {
        let known = ["demo", "runs"];
        for usual in [&["default"][..], &[], &[""]] {
            assert_eq!(tools(usual).toolsets(&known).unwrap(), Toolsets::Default);
        }
        for all in [&["all"][..], &["runs", "all"]] {
            assert_eq!(
                tools(all).toolsets(&known).unwrap(),
                Toolsets::Named(vec!["demo".into(), "runs".into()])
            );
        }
        assert_eq!(
            tools(&[" runs", "demo", ""]).toolsets(&known).unwrap(),
            Toolsets::Named(vec!["runs".into(), "demo".into()])
        );
        assert_eq!(
            tools(&["rums"]).toolsets(&known).unwrap_err().code().name,
            "NOT_FOUND"
        );
    }
}
