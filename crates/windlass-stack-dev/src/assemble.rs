//! From a plan to a stack that can be started: ports, passwords and parameters first, then
//! everything that is passed to them.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};

use tokio_util::sync::CancellationToken;
use windlass_stack_config::model::ResourceKind;
use windlass_stack_config::model::events::{PayloadFormat, RouteMethod};
use windlass_stack_config::model::storage::HostingContentType;
use windlass_types::Problem;

use crate::container::Engine;
use crate::environment::LocalParams;
use crate::gateway::{Behind, HttpApi, Listener, Targets, serve_api, serve_listener};
use crate::ledger::Ledger;
use crate::log::Log;
use crate::outside::{Outside, Provisioned};
use crate::plan::DevPlan;
use crate::ports::Ports;
use crate::process::Host;
use crate::routes::{HttpRoute, Target, balancer_rules, http_routes};
use crate::session::Session;
use crate::stack::Stack;
use crate::status::{Board, Condition, Role};
use crate::website::{self, Website};

mod databases;
mod elsewhere;
mod functions;
mod services;

/// What assembling works on.
pub(crate) struct Bench {
    pub plan: DevPlan,
    pub outside: Outside,
    pub host: Arc<Host>,
    pub board: Arc<Board>,
    pub ports: Ports,
    pub params: LocalParams,
    /// The container engine, asked for once and only when something needs it.
    engine: Option<Result<Engine, Problem>>,
    closed: CancellationToken,
}

impl Bench {
    pub fn engine(&mut self) -> Result<Engine, Problem> {
        let (outside, marker) = (&self.outside, &self.host.marker.1);
        let program = outside.programs.container.as_ref();
        let found = self.engine.get_or_insert_with(|| {
            // What a manager that was killed left running is of no use any more.
            tokio::task::block_in_place(|| {
                Engine::find(program, &outside.engine, marker).inspect(Engine::remove_all)
            })
        });
        found.clone()
    }

    pub fn data(&self, name: &str) -> std::path::PathBuf {
        self.plan.places().data().join(name)
    }

    pub fn put(&mut self, resource: &str, param: &str, value: impl Into<String>) {
        self.params
            .entry(resource.to_owned())
            .or_default()
            .insert(param.to_owned(), value.into());
    }

    /// A listener that keeps its port, and its address.
    fn listener(
        &mut self,
        name: &str,
        preferred: Option<u16>,
    ) -> Result<(tokio::net::TcpListener, u16), Problem> {
        let fault = |error| Problem::internal("dev ports", error);
        let bound = self.ports.listener(name, preferred)?;
        let port = bound.local_addr().map_err(fault)?.port();
        Ok((
            tokio::net::TcpListener::from_std(bound).map_err(fault)?,
            port,
        ))
    }
}

/// Makes the stack. Listeners are bound and serve from here on; processes start later.
pub(crate) fn assemble(
    plan: DevPlan,
    outside: Outside,
    log: Arc<Log>,
    session: Session,
    provisioned: Provisioned,
    stop: CancellationToken,
) -> Result<Stack, Problem> {
    let places = plan.places();
    let host = Arc::new(Host {
        log: log.clone(),
        ledger: Arc::new(Ledger::new(&places)),
        inherited: outside.inherited.clone(),
        marker: places.marker(),
    });
    let closed = CancellationToken::new();
    let mut bench = Bench {
        ports: Ports::new(places.ports()),
        plan: plan.clone(),
        outside: outside.clone(),
        host: host.clone(),
        board: Arc::new(Board::default()),
        params: LocalParams::new(),
        engine: None,
        closed: closed.clone(),
    };
    let names: Vec<String> = plan
        .config
        .resources
        .keys()
        .filter(|name| plan.is_chosen(name))
        .cloned()
        .collect();
    let mut databases = BTreeMap::new();
    let mut listeners = Vec::new();
    for name in &names {
        let kind = &plan.config.resources[name].kind;
        if plan.is_remote(name) {
            bench
                .board
                .add(name, Role::Elsewhere, kind.type_name(), Condition::Remote);
            continue;
        }
        match kind {
            ResourceKind::RelationalDatabase(database) => {
                databases::relational(&mut bench, name, database, &mut databases)?
            }
            ResourceKind::RedisCluster(cluster) => {
                databases::redis(&mut bench, name, cluster.port, &mut databases)?
            }
            ResourceKind::HttpApiGateway(_) | ResourceKind::ApplicationLoadBalancer(_) => {
                listeners.extend(entrance(&mut bench, name, kind)?);
            }
            _ => {}
        }
    }
    let mut functions = functions::reserve(&mut bench, &names)?;
    let mut services = services::reserve(&mut bench, &names)?;
    elsewhere::show(&mut bench, &names, provisioned);
    bench.ports.save()?;
    let params = Arc::new(bench.params.clone());
    let local_functions = functions::make(&mut bench, &mut functions, &params);
    let units = services::make(&mut bench, &mut services, &params);
    let targets = Arc::new(Targets {
        functions: local_functions
            .iter()
            .map(|(name, (function, _))| (name.clone(), function.clone()))
            .collect(),
        ports: services.ports,
    });
    let client = reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .map_err(|error| Problem::internal("dev gateway", error))?;
    let behind = Behind {
        targets,
        log: log.clone(),
        clock: outside.clock.clone(),
        client,
        requests: Arc::new(AtomicU64::new(0)),
    };
    for (listener, way) in listeners.into_iter().chain(functions.listeners) {
        match way {
            Way::Api(api) => serve_api(listener, api, behind.clone(), closed.clone()),
            Way::Balancer(balancer) => {
                serve_listener(listener, balancer, behind.clone(), closed.clone())
            }
        }
    }
    let engine = bench.engine.and_then(Result::ok);
    Ok(Stack {
        _claims: bench.ports.claims(),
        started_at: session.started_at,
        plan,
        places,
        outside,
        host,
        log,
        board: bench.board,
        params,
        functions: local_functions,
        units,
        databases,
        engine,
        session: Mutex::new(session),
        stop,
        closed,
        rebuilding: tokio::sync::Mutex::new(()),
    })
}

/// What a listener serves.
pub(crate) enum Way {
    Api(HttpApi),
    Balancer(Listener),
}

type Bound = Vec<(tokio::net::TcpListener, Way)>;

/// Gateways and balancers: one listener each, or one per listener of the config.
fn entrance(bench: &mut Bench, name: &str, kind: &ResourceKind) -> Result<Bound, Problem> {
    let resources = bench.plan.config.resources.clone();
    let mut bound = Vec::new();
    match kind {
        ResourceKind::HttpApiGateway(gateway) => {
            let (listener, port) = bench.listener(name, None)?;
            let mut routes: Vec<HttpRoute> = resources
                .iter()
                .flat_map(|(target, resource)| http_routes(target, &resource.kind))
                .filter(|route| route.gateway == name)
                .collect();
            for route in &mut routes {
                if let Some(format) = gateway
                    .payload_format
                    .filter(|_| route.payload == PayloadFormat::V1)
                {
                    route.payload = format;
                }
                if let Some(authorizer) = route.authorizer {
                    bench.host.log.warn(&format!(
                        "{name}: the {authorizer} authorizer of {} is not enforced locally",
                        route.path
                    ));
                }
            }
            let url = announce(bench, name, port);
            bench.board.add(
                name,
                Role::Workload,
                kind.type_name(),
                Condition::Running(Some(url)),
            );
            let api = HttpApi {
                name: name.to_owned(),
                routes,
                cors: gateway.cors.clone(),
            };
            bound.push((listener, Way::Api(api)));
        }
        ResourceKind::ApplicationLoadBalancer(balancer) => {
            let mut rules: Vec<_> = resources
                .iter()
                .flat_map(|(target, resource)| balancer_rules(target, &resource.kind))
                .filter(|rule| rule.balancer == name)
                .collect();
            rules.sort_by_key(|rule| rule.priority);
            let ports: Vec<(Option<u16>, _)> = if balancer.listeners.is_empty() {
                vec![(None, None)]
            } else {
                let each = balancer.listeners.iter();
                each.map(|listener| (Some(listener.port), listener.default_action.clone()))
                    .collect()
            };
            let mut first = None;
            for (deployed, default_action) in ports {
                let key = deployed.map_or_else(|| name.to_owned(), |port| format!("{name}:{port}"));
                // Low ports need rights that a development session should not have.
                let (listener, port) =
                    bench.listener(&key, deployed.filter(|port| *port >= 1024))?;
                let of_listener = rules
                    .iter()
                    .filter(|rule| {
                        rule.listener_port.is_none()
                            || deployed.is_none()
                            || rule.listener_port == deployed
                    })
                    .cloned()
                    .collect();
                first.get_or_insert(port);
                let way = Listener {
                    balancer: name.to_owned(),
                    rules: of_listener,
                    default_action,
                };
                bound.push((listener, Way::Balancer(way)));
            }
            if let Some(port) = first {
                let url = announce(bench, name, port);
                bench.board.add(
                    name,
                    Role::Workload,
                    kind.type_name(),
                    Condition::Running(Some(url)),
                );
            }
        }
        _ => {}
    }
    Ok(bound)
}

/// Announces where something listens.
pub(crate) fn announce(bench: &mut Bench, name: &str, port: u16) -> String {
    let url = format!("http://127.0.0.1:{port}");
    bench.put(name, "url", url.clone());
    bench.put(name, "domain", format!("127.0.0.1:{port}"));
    url
}

/// The route of a function's own address: everything.
pub(crate) fn every_path(function: &str) -> HttpRoute {
    HttpRoute {
        gateway: function.to_owned(),
        method: RouteMethod::Any,
        path: "$default".to_owned(),
        payload: PayloadFormat::V2,
        authorizer: None,
        target: Target::Function(function.to_owned()),
    }
}

/// A hosting bucket without a command: its files, served from here.
pub(crate) fn website(
    bench: &mut Bench,
    name: &str,
    bucket: &windlass_stack_config::model::storage::HostingBucket,
) -> Result<(), Problem> {
    let (listener, port) = bench.listener(name, None)?;
    let url = announce(bench, name, port);
    bench.board.add(
        name,
        Role::Workload,
        "hosting-bucket",
        Condition::Running(Some(url)),
    );
    let site = Website {
        root: bench.plan.directory.join(&bucket.upload_directory_path),
        index: bucket.index_document.clone(),
        error: bucket.error_document.clone(),
        is_single_page: bucket.hosting_content_type == HostingContentType::SinglePageApp,
    };
    website::serve(listener, site, bench.closed.clone());
    Ok(())
}
