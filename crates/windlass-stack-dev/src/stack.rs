//! Everything that runs in a session, and what can be done with it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use futures::future::join_all;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use windlass_types::{Problem, Secret, Timestamp, code};

use crate::code::Language;
use crate::container::Engine;
use crate::database::LocalDatabase;
use crate::emulators;
use crate::environment::LocalParams;
use crate::function::LocalFunction;
use crate::lock::locked;
use crate::log::Log;
use crate::outside::Outside;
use crate::plan::{DevPlan, Places};
use crate::process::Host;
use crate::session::{Phase, Session, write_private};
use crate::status::{Board, Condition, Role};
use crate::supervise::Supervised;

/// How a unit is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lasting {
    /// For as long as the session.
    Always,
    /// Once, before those that wait for it.
    Once,
    /// When it is asked for.
    OnDemand,
}

/// A process or container of a service, and what must be there before it.
pub(crate) struct Unit {
    pub supervised: Arc<Supervised>,
    pub lasting: Lasting,
    pub after: Vec<String>,
    pub language: Option<Language>,
}

/// A session's stack.
pub(crate) struct Stack {
    pub plan: DevPlan,
    pub places: Places,
    pub outside: Outside,
    pub host: Arc<Host>,
    pub log: Arc<Log>,
    pub board: Arc<Board>,
    pub params: Arc<LocalParams>,
    pub functions: BTreeMap<String, (Arc<LocalFunction>, Option<Language>)>,
    pub units: Vec<Unit>,
    pub databases: BTreeMap<String, (LocalDatabase, Arc<Supervised>)>,
    pub engine: Option<Engine>,
    pub session: Mutex<Session>,
    pub started_at: Timestamp,
    /// Asked to stop.
    pub stop: CancellationToken,
    /// Listeners end with it.
    pub closed: CancellationToken,
    pub rebuilding: tokio::sync::Mutex<()>,
    /// Keeps other sessions from this one's ports.
    pub _claims: Vec<std::fs::File>,
}

impl Stack {
    pub fn phase(&self) -> Phase {
        locked(&self.session).phase
    }

    /// Says where the session is, here and in its file.
    pub fn enter(&self, phase: Phase) -> Result<(), Problem> {
        let session = {
            let mut session = locked(&self.session);
            session.phase = phase;
            session.workloads = self.board.names(Role::Workload);
            session.databases = self.board.names(Role::Database);
            session.clone()
        };
        write_private(&self.places.session, &session)
    }

    /// Starts databases, then everything that may use them. What fails is on the board.
    pub async fn start(&self) {
        // Each failure is on the board and in the log; the others continue.
        join_all(
            self.databases
                .values()
                .map(|(_, server)| async { server.start().await.is_ok() }),
        )
        .await;
        let functions = join_all(
            self.functions
                .values()
                .map(|(function, _)| async { function.rebuild().await.is_ok() }),
        );
        tokio::join!(functions, self.start_units());
    }

    /// Units in an order in which each finds what it depends on.
    async fn start_units(&self) {
        let mut done: BTreeSet<&str> = BTreeSet::new();
        let mut waiting: Vec<&Unit> = self
            .units
            .iter()
            .filter(|unit| unit.lasting != Lasting::OnDemand)
            .collect();
        let all: BTreeSet<&str> = waiting
            .iter()
            .map(|unit| unit.supervised.resource.as_str())
            .collect();
        while !waiting.is_empty() {
            let is_free = |unit: &&Unit| {
                unit.after
                    .iter()
                    .all(|name| done.contains(name.as_str()) || !all.contains(name.as_str()))
            };
            let (free, blocked): (Vec<&Unit>, Vec<&Unit>) =
                waiting.iter().copied().partition(is_free);
            if free.is_empty() {
                for unit in blocked {
                    let why = format!(
                        "waits for {}, which waits for it or did not start",
                        unit.after.join(", ")
                    );
                    self.board
                        .set(&unit.supervised.resource, Condition::Failed(why));
                }
                return;
            }
            let started = join_all(free.into_iter().map(|unit| async move {
                let outcome = match unit.lasting {
                    Lasting::Once => unit.supervised.run_once().await,
                    Lasting::Always | Lasting::OnDemand => unit.supervised.start().await,
                };
                (unit.supervised.resource.as_str(), outcome.is_ok())
            }))
            .await;
            done.extend(
                started
                    .into_iter()
                    .filter(|(_, is_up)| *is_up)
                    .map(|(name, _)| name),
            );
            waiting = blocked;
        }
    }

    /// Rebuilds one workload.
    pub async fn rebuild(&self, name: &str) -> Result<Value, Problem> {
        let _one_at_a_time = self.rebuilding.lock().await;
        self.enter(Phase::Rebuilding)?;
        let began = self.outside.clock.now();
        let outcome = self.rebuild_one(name).await;
        self.after_rebuild()?;
        outcome?;
        let took = self.outside.clock.now().since(began);
        self.log
            .info(&format!("{name} was rebuilt in {} ms", took.as_millis()));
        Ok(json!({ "workload": name, "durationMs": took.as_millis() }))
    }

    /// Rebuilds all and reports each.
    pub async fn rebuild_all(&self) -> Result<Value, (Value, String)> {
        let _one_at_a_time = self.rebuilding.lock().await;
        let mut results = serde_json::Map::new();
        let mut failed = Vec::new();
        // A session file that cannot be written does not stop the work.
        let _ = self.enter(Phase::Rebuilding);
        for name in self.rebuildable() {
            let result = match self.rebuild_one(&name).await {
                Ok(()) => json!({ "ok": true }),
                Err(problem) => {
                    failed.push(name.clone());
                    json!({ "ok": false, "message": problem.message(), "output": problem.details().get("output") })
                }
            };
            results.insert(name, result);
        }
        let _ = self.after_rebuild();
        let data = json!({ "workloads": results });
        if failed.is_empty() {
            Ok(data)
        } else {
            Err((data, format!("{} could not be rebuilt", failed.join(", "))))
        }
    }

    fn after_rebuild(&self) -> Result<(), Problem> {
        if self.stop.is_cancelled() {
            Ok(())
        } else {
            self.enter(Phase::Ready)
        }
    }

    /// Workloads that can be rebuilt.
    pub fn rebuildable(&self) -> Vec<String> {
        let units = self
            .units
            .iter()
            .filter(|unit| unit.lasting == Lasting::Always);
        let units = units.map(|unit| unit.supervised.resource.clone());
        self.functions.keys().cloned().chain(units).collect()
    }

    async fn rebuild_one(&self, name: &str) -> Result<(), Problem> {
        if let Some((function, _)) = self.functions.get(name) {
            return function.rebuild().await;
        }
        let inside = format!("{name}/");
        let units: Vec<&Unit> = self
            .units
            .iter()
            .filter(|unit| {
                unit.supervised.resource == name || unit.supervised.resource.starts_with(&inside)
            })
            .collect();
        if units.is_empty() {
            return Err(Problem::new(
                &code::NOT_FOUND,
                format!(
                    "there is no workload '{name}' to rebuild; there are {}",
                    self.rebuildable().join(", ")
                ),
            )
            .with("kind", "workload"));
        }
        for unit in units {
            match unit.lasting {
                Lasting::Always => unit.supervised.rebuild().await?,
                Lasting::Once | Lasting::OnDemand => unit.supervised.run_once().await?,
            }
        }
        Ok(())
    }

    /// Rebuilds what the changed files may affect.
    pub async fn react(&self, files: &BTreeSet<PathBuf>) {
        let touched = |language: Option<Language>| {
            files
                .iter()
                .any(|file| language.is_some_and(|language| language.is_touched_by(file)))
        };
        let functions = self
            .functions
            .iter()
            .filter(|(_, (_, language))| touched(*language));
        let units = self
            .units
            .iter()
            .filter(|unit| unit.lasting == Lasting::Always && touched(unit.language));
        let names: Vec<String> = functions
            .map(|(name, _)| name.clone())
            .chain(units.map(|unit| unit.supervised.resource.clone()))
            .collect();
        if names.is_empty() {
            return;
        }
        let shown: Vec<String> = files
            .iter()
            .take(3)
            .map(|file| self.relative(file))
            .collect();
        self.log.info(&format!("changed: {}", shown.join(", ")));
        let _one_at_a_time = self.rebuilding.lock().await;
        let began = self.outside.clock.now();
        let _ = self.enter(Phase::Rebuilding);
        let outcomes = join_all(names.iter().map(|name| self.rebuild_one(name))).await;
        let _ = self.after_rebuild();
        let took = self.outside.clock.now().since(began).as_millis();
        for (name, outcome) in names.iter().zip(outcomes) {
            match outcome {
                Ok(()) => self.log.info(&format!("{name} is live after {took} ms")),
                Err(problem) => self
                    .log
                    .error(&format!("{name} was left as it was: {}", problem.message())),
            }
        }
    }

    fn relative(&self, file: &Path) -> String {
        file.strip_prefix(&self.plan.directory)
            .unwrap_or(file)
            .display()
            .to_string()
    }

    /// Variables of a workload, its secrets known to the log.
    pub fn variables(
        outside: &Outside,
        log: &Log,
        plan: &DevPlan,
        params: &LocalParams,
        workload: &str,
    ) -> Result<Vec<(String, Secret<String>)>, Problem> {
        let mut variables = emulators::variables(&plan.emulators, !plan.uses_deployed());
        for variable in outside.environment.variables(workload, params)? {
            for secret in &variable.secrets {
                log.hide(secret);
            }
            log.hide_named(&variable.name, &variable.value);
            variables.push((variable.name, variable.value));
        }
        Ok(variables)
    }

    /// Ends everything.
    pub async fn shut_down(&self) {
        self.closed.cancel();
        let functions = join_all(self.functions.values().map(|(function, _)| function.stop()));
        let units = join_all(self.units.iter().map(|unit| unit.supervised.stop()));
        tokio::join!(functions, units);
        join_all(self.databases.values().map(|(_, server)| server.stop())).await;
        if let Some(engine) = &self.engine {
            tokio::task::block_in_place(|| engine.remove_all());
        }
    }
}
