//! What the command line asks of the binary: an open installation and servers in front of it.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use tokio_util::sync::CancellationToken;
use windlass_cli::{
    Host, HttpRequest, Interrupt, McpRequest, OpenOptions, Opened, ToolList, Toolsets, TourRequest,
    TuiRequest,
};
use windlass_engine::{
    access::{ApiKeys, Tier},
    contract::{Contract, Plain},
    operation::Catalogue,
};
use windlass_http::{AuthMode, Deprecation, HttpState, ServeError};
use windlass_mcp::{
    Extension, McpHandler, ServerOptions, ToolEntry, ToolMode,
    http::HttpOptions,
    transport::{StdioOptions, serve_stdio},
};
use windlass_ports::{BoxFuture, Sandbox};
use windlass_types::{Principal, Problem, code};

use crate::{assemble, descriptors, pipeline, sandbox, stack_dev, tour_double, user};

/// This binary.
#[derive(Default)]
pub(crate) struct Binary {
    bound: pipeline::Bound,
}

impl Host for Binary {
    fn contract(&self, toolset: &str) -> &'static dyn Contract {
        match toolset {
            "pack" => &windlass_pack::PackContract,
            "launch" => &windlass_launch::LaunchContract,
            "pipeline" => &windlass_pipeline::PipelineContract,
            "stack" => &windlass_stack::StackContract,
            _ => &Plain,
        }
    }

    fn line_contract(&self) -> &'static dyn Contract {
        &windlass_stack::StackContract
    }

    fn open<'a>(&'a self, options: &'a OpenOptions) -> BoxFuture<'a, Result<Opened, Problem>> {
        Box::pin(async move { assemble::open(options, &self.bound) })
    }

    fn serve_stdio<'a>(
        &'a self,
        opened: Opened,
        request: McpRequest,
    ) -> BoxFuture<'a, Result<(), Problem>> {
        Box::pin(async move {
            // It drives runs as a daemon does: checkouts, programs, artifacts, webhooks.
            descriptors::raise();
            let shutdown = cancelled_by(&request.shutdown);
            let options = StdioOptions::default();
            let handler = handler(
                &opened,
                &offer(&request.toolsets, request.fixtures),
                request.tools,
                Some(user::agent_principal("mcp")),
                request.project.or_else(|| std::env::current_dir().ok()),
            )?;
            serve_stdio(handler, options, shutdown)
                .await
                .map_err(stdio_problem)
        })
    }

    fn serve_http<'a>(
        &'a self,
        opened: Opened,
        request: HttpRequest,
    ) -> BoxFuture<'a, Result<(), Problem>> {
        Box::pin(serve_http(opened, request, Arc::clone(&self.bound)))
    }

    fn show_tui<'a>(
        &'a self,
        opened: Opened,
        request: TuiRequest,
    ) -> BoxFuture<'a, Result<(), Problem>> {
        let options = windlass_tui::Options {
            program: request.program,
            arguments: request.arguments,
            principal: opened.principal,
            request_id: request.request_id,
            directory: request.directory,
            colour: request.colour,
            read_only: request.read_only,
            short_path: request.short_path,
            advice: request.advice,
        };
        let shutdown = request.shutdown;
        Box::pin(async move { windlass_tui::run(opened.catalogue, options, shutdown.wait()).await })
    }

    fn run_dev_manager<'a>(
        &'a self,
        options: &'a OpenOptions,
        plan: &'a Path,
    ) -> BoxFuture<'a, Result<(), Problem>> {
        Box::pin(stack_dev::run_manager(options, plan))
    }

    fn sandbox(&self, path: Option<&OsStr>) -> Arc<dyn Sandbox> {
        sandbox::of_this_machine(path)
    }

    fn enter_sandbox(&self, arguments: &[OsString]) -> ExitCode {
        windlass_sandbox::enter(arguments, &sandbox::Addresses)
    }

    fn serve_double<'a>(&'a self) -> BoxFuture<'a, Result<(), Problem>> {
        Box::pin(tour_double::serve())
    }

    fn play_tour(&self, request: TourRequest<'_>) -> Result<serde_json::Value, Problem> {
        use windlass_cli::{TourAnswer, TourPart};
        use windlass_tour::{Answer, Options, Part, Screen};
        let wait = request.wait.map(|wait| {
            move || match wait() {
                TourAnswer::Continue => Answer::Continue,
                TourAnswer::RunAll => Answer::RunAll,
                TourAnswer::Leave => Answer::Leave,
            }
        });
        windlass_tour::run(&Options {
            part: match request.part {
                TourPart::Beginning => Part::Beginning,
                TourPart::Chapter(number) => Part::Chapter(number),
                TourPart::All => Part::All,
            },
            keep: request.keep,
            screen: Screen {
                line: request.line,
                wait: wait.as_ref().map(|wait| wait as &dyn Fn() -> Answer),
                colour: request.colour,
            },
        })
    }

    fn generate(&self, catalogue: &Catalogue) -> Result<Vec<(PathBuf, String)>, Problem> {
        let openapi = windlass_http::openapi(catalogue);
        let stack_schema = windlass_stack_config::schema();
        let mut documents = windlass_reference::generate(windlass_reference::Sources {
            command: windlass_cli::command(),
            exit_codes: windlass_cli::exit_codes(),
            operations: &catalogue.operations().collect::<Vec<_>>(),
        })?;
        documents.extend([
            (
                PathBuf::from("docs/reference/openapi.json"),
                format!("{openapi:#}\n"),
            ),
            (
                PathBuf::from("schemas/stacktape.schema.json"),
                format!("{stack_schema:#}\n"),
            ),
        ]);
        for (path, text) in windlass_docs::config_reference(&stack_schema)? {
            documents.push((PathBuf::from(path), text));
        }
        Ok(documents)
    }

    fn man_pages(&self) -> Result<Vec<(String, String)>, Problem> {
        windlass_reference::man_pages(windlass_cli::command())
    }

    fn command_page(&self, command: &clap::Command, name: &str) -> String {
        windlass_reference::markdown(command, name)
    }
}

async fn serve_http(
    opened: Opened,
    request: HttpRequest,
    bound: pipeline::Bound,
) -> Result<(), Problem> {
    let closing = CancellationToken::new();
    let mut state = http_state(&opened, &request, closing.clone());
    state.signed_addresses = Some(pipeline::signed_addresses(&request.home)?);
    let mut listen = state
        .listen_options()
        .map_err(|error| serve_problem(&error))?;
    let server = &request.settings.server;
    let descriptors = descriptors::raise();
    let wanted = server.max_connections.get() as usize;
    listen.max_connections = descriptors::connections_within(descriptors, wanted)?;
    if listen.max_connections < wanted {
        tracing::warn!(
            descriptors,
            connections = listen.max_connections,
            wanted,
            "fewer connections than configured, so that files can be opened"
        );
    }
    // A stream keeps its connection; others must find one too.
    state.max_streams = state.max_streams.min(listen.max_connections.div_ceil(2));
    listen.max_connections_per_address = server.max_connections_per_address.get() as usize;
    listen.header_timeout = Duration::from_secs(server.header_timeout_seconds.get());
    listen.stall_timeout = Duration::from_secs(server.stall_timeout_seconds.get());
    let mcp_options = HttpOptions {
        shutdown: closing,
        ..mcp_options(&request)
    };
    let router = if !request.mcp {
        windlass_http::router(state)
    } else {
        mcp_router(&opened, &request, state, mcp_options)?
    };
    let announce = request.announce;
    let path = if request.api { "" } else { "/mcp" };
    windlass_http::serve(
        listen,
        router,
        move |address| {
            // A process serves once; a second address would change nothing.
            let _ = bound.set(address);
            announce(&format!("http://{address}{path}"));
        },
        async move { request.shutdown.wait().await },
    )
    .await
    .map_err(|error| serve_problem(&error))
}

fn mcp_router(
    opened: &Opened,
    request: &HttpRequest,
    state: HttpState,
    options: HttpOptions,
) -> Result<windlass_http::Router, Problem> {
    let handler = handler(
        opened,
        &offer(&request.toolsets, request.fixtures),
        request.tools,
        None,
        request.project.clone(),
    )?;
    let endpoint = windlass_mcp::http::endpoint(move || handler.session(), options);
    Ok(if request.api {
        windlass_http::router_with_mcp(state, endpoint)
    } else {
        windlass_http::mcp_router(state, endpoint)
    })
}

fn http_state(opened: &Opened, request: &HttpRequest, closing: CancellationToken) -> HttpState {
    let settings = &request.settings;
    let auth = if request.no_auth {
        AuthMode::LoopbackOpen(user::agent_principal("http"))
    } else {
        AuthMode::Keys
    };
    let keys = Arc::new(ApiKeys::new(opened.catalogue.engine()));
    let mut state = HttpState::new(opened.catalogue.clone(), keys, auth, request.listen);
    state.tiers = settings
        .limits
        .tiers
        .iter()
        .map(|(name, tier)| (name.clone(), Tier::from(*tier)))
        .collect();
    state.public_url.clone_from(&settings.server.public_url);
    state.deprecations = settings
        .server
        .deprecations
        .iter()
        .map(|(version, deprecation)| {
            let deprecation = Deprecation {
                since: deprecation.since,
                sunset: deprecation.sunset,
                link: deprecation.link.clone(),
            };
            (version.clone(), deprecation)
        })
        .collect();
    state
        .allowed_hosts
        .clone_from(&settings.server.allowed_hosts);
    state
        .allowed_origins
        .clone_from(&settings.server.allowed_origins);
    state.cors = settings.server.cors;
    state.body_limit = settings.server.body_limit_bytes as usize;
    state.request_timeout = Duration::from_secs(settings.server.request_timeout_seconds.get());
    // Half of what closes the connection, so that a reader that comes back still learns why.
    state.slow_reader = Duration::from_secs(settings.server.stall_timeout_seconds.get()) / 2;
    state.max_streams = settings.server.max_streams.get() as usize;
    state.max_streams_per_key = settings.server.max_streams_per_key.get() as usize;
    state.closing = closing;
    state
}

/// The endpoint repeats the guard's Host and Origin checks, so it must know the same names.
fn mcp_options(request: &HttpRequest) -> HttpOptions {
    let server = &request.settings.server;
    let mut options = HttpOptions::default();
    options.allowed_hosts.push(request.listen.ip().to_string());
    options
        .allowed_hosts
        .extend(server.allowed_hosts.iter().cloned());
    options
        .allowed_origins
        .extend(server.allowed_origins.iter().cloned());
    options.max_body_bytes = server.body_limit_bytes as usize;
    options
}

/// What an MCP server offers.
struct Offer {
    toolsets: Option<Vec<String>>,
    extension: Option<Arc<dyn Extension>>,
}

fn offer(toolsets: &Toolsets, fixtures: bool) -> Offer {
    #[cfg(feature = "conformance-fixtures")]
    if fixtures {
        return Offer {
            toolsets: Some(vec![windlass_mcp::fixtures::TOOLSET.to_owned()]),
            extension: Some(windlass_mcp::fixtures::extension()),
        };
    }
    debug_assert!(
        !fixtures,
        "only the build for the conformance suite has them"
    );
    Offer {
        toolsets: match toolsets {
            Toolsets::Default => None,
            Toolsets::Named(names) => Some(names.clone()),
        },
        extension: None,
    }
}

fn handler(
    opened: &Opened,
    offer: &Offer,
    tools: ToolList,
    principal: Option<Principal>,
    directory: Option<PathBuf>,
) -> Result<McpHandler, Problem> {
    let options = ServerOptions {
        toolsets: offer.toolsets.clone(),
        tools: match tools {
            ToolList::Full => ToolMode::Full,
            ToolList::Lean => ToolMode::Lean,
        },
        // Forms a client on standard input shows are answered by the person who started it.
        person: principal.is_some().then(user::local_principal),
        directory,
        principal,
        search: Some(find_tools),
        extension: offer.extension.clone(),
    };
    windlass_mcp::handler(opened.catalogue.clone(), options)
        .map_err(|error| Problem::invalid("toolset", "enum", error.to_string()))
}

/// Tools are searched as the documentation is.
fn find_tools(tools: &[ToolEntry], question: &str) -> Vec<usize> {
    let entries: Vec<_> = tools
        .iter()
        .map(|tool| windlass_docs::FinderEntry {
            name: &tool.name,
            title: &tool.title,
            words: &tool.words,
            text: &tool.text,
        })
        .collect();
    windlass_docs::find(&entries, question)
}

fn cancelled_by(interrupt: &Interrupt) -> CancellationToken {
    let token = CancellationToken::new();
    let (cancel, interrupt) = (token.clone(), interrupt.clone());
    tokio::spawn(async move {
        interrupt.wait().await;
        cancel.cancel();
    });
    token
}

fn stdio_problem(error: std::io::Error) -> Problem {
    Problem::new(
        &code::UPSTREAM_ERROR,
        format!("the MCP connection failed: {error}"),
    )
}

fn serve_problem(error: &ServeError) -> Problem {
    use std::error::Error as _;
    let cause = error
        .source()
        .map(|cause| format!(": {cause}"))
        .unwrap_or_default();
    let message = format!("{error}{cause}");
    match error {
        ServeError::OpenToOthers { .. } => {
            Problem::new(&code::FORBIDDEN, message).next("windlass keys create NAME")
        }
        ServeError::Bind { .. } => {
            Problem::new(&code::BUSY, message).next("choose another port with --listen")
        }
    }
}
