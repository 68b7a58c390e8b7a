//! A config repository, opened for one command: manifest, lockfile, machine, project, state.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use fs_err as fs;
use serde_json::Value;
use windlass_engine::operation::CallContext;
use windlass_pack_author::{GitCheckouts, ManifestFile, OperatorInput, read_manifest};
use windlass_pack_deploy::{
    Binding, BindingDefaults, DeployPlan, Disk, EventContext, LinkRule, Owned, OwnershipScope,
    PathPattern, PlanHash, PlanOptions, gather_disk, gather_owned, plan,
    render::{Places, RenderInput, render, roots},
    state::{PackState, StatCache},
};
use windlass_pack_model::{
    ConfigScope, Desired, FileWarning, Lockfile, Manifest, PackHome, Project, Target, TargetConfig,
    TargetMode, TargetRoot, fault, machine,
    manifest::DEFAULT_PROFILE,
    next_actions::Caller,
    selection::{parse_target_filter, select_targets},
};
use windlass_ports::Git;
use windlass_types::{Digest, Problem, Surface, Timestamp};

use crate::{PackEnvironment, apply::Handoff, arguments::Common, codex_home::MovedHome};

/// The name of the lockfile.
pub(crate) const LOCK_FILE: &str = "agentpack.lock.json";

/// What all commands share.
pub(crate) struct Pack {
    pub(crate) environment: PackEnvironment,
    pub(crate) git: Arc<dyn Git>,
    pub(crate) handoff: Handoff,
}

/// When and where a command runs.
#[derive(Clone, Debug)]
pub(crate) struct Moment {
    pub(crate) now: Timestamp,
    /// Nanoseconds since the epoch, unique in practice: names snapshots.
    pub(crate) nanos: u128,
    pub(crate) directory: Option<PathBuf>,
    /// What the call came through.
    pub(crate) surface: Surface,
}

impl Moment {
    pub(crate) fn of(engine: &windlass_engine::Engine, context: &CallContext) -> Self {
        let now = engine.now();
        Self {
            now,
            nanos: nanos(engine, now),
            directory: context.directory.clone(),
            surface: context.surface,
        }
    }

    /// Paths or patterns as the caller means them: from where the caller is.
    pub(crate) fn patterns(&self, texts: &[String]) -> Vec<PathPattern> {
        let absolute = |text: &String| match &self.directory {
            Some(directory) => directory.join(text).display().to_string(),
            None => text.clone(),
        };
        texts
            .iter()
            .map(|text| PathPattern::new(&absolute(text)))
            .collect()
    }

    /// The id of a snapshot made now.
    pub(crate) fn snapshot_id(&self) -> String {
        self.nanos.to_string()
    }

    /// As people and files write it.
    pub(crate) fn rfc3339(&self) -> String {
        rfc3339(self.now, self.nanos)
    }
}

/// Nanoseconds since the epoch; below the clock's resolution they are chance.
pub(crate) fn nanos(engine: &windlass_engine::Engine, now: Timestamp) -> u128 {
    let random: [u8; 4] = windlass_ports::entropy::random(&*engine.entropy);
    let below = u128::from(u32::from_be_bytes(random)) % 1_000_000;
    let millis = u128::try_from(now.as_millis()).unwrap_or_default();
    millis * 1_000_000 + below
}

/// RFC 3339 in UTC with nanoseconds.
pub(crate) fn rfc3339(now: Timestamp, nanos: u128) -> String {
    let text = now.to_string();
    let seconds = text.split(['.', 'Z']).next().unwrap_or(&text);
    format!("{seconds}.{:09}Z", nanos % 1_000_000_000)
}

impl Pack {
    /// The state below `$AGENTPACK_HOME`.
    pub(crate) fn state(&self) -> PackState {
        PackState::open(PackHome::at(&self.environment.pack_home))
    }

    /// The repository the arguments mean, absolute.
    pub(crate) fn repo(&self, common: &Common, moment: &Moment) -> PathBuf {
        let Some(repo) = common.repo.as_deref().filter(|repo| !repo.is_empty()) else {
            return PackHome::at(&self.environment.pack_home).default_repo();
        };
        let path = windlass_pack_model::home::expand_home(repo, &self.environment.home_dir);
        if path.is_absolute() {
            return path;
        }
        match &moment.directory {
            Some(directory) => directory.join(path),
            None => std::path::absolute(&path).unwrap_or(path),
        }
    }

    /// The files and directories that the input of a call names, as the operations read them. What
    /// lies in the repository needs no look of its own.
    pub(crate) fn named_places(&self, context: &CallContext, input: &Value) -> Vec<PathBuf> {
        let base = context.directory.clone().unwrap_or_default();
        let from = |base: &Path, text: &str| {
            let path = windlass_pack_model::home::expand_home(text, &self.environment.home_dir);
            base.join(path)
        };
        let text = |name: &str| {
            let text = input.get(name).and_then(Value::as_str);
            text.filter(|text| !text.is_empty())
        };
        let named = ["repo", "export_root", "home_root"];
        let named = named
            .iter()
            .filter_map(|name| Some(from(&base, text(name)?)));
        let leaves = input.get("allow_outside") == Some(&Value::Bool(true));
        let source = text("source").filter(|_| leaves);
        let source = source.and_then(|source| source.strip_prefix("local:"));
        let repo = text("repo").map(|repo| from(&base, repo));
        let repo = repo.unwrap_or_else(|| PackHome::at(&self.environment.pack_home).default_repo());
        let source = source.map(|source| from(&repo, source));
        named.chain(source).collect()
    }

    /// The machine id the arguments mean.
    pub(crate) fn machine_id(&self, common: &Common) -> String {
        let given = common.machine.as_deref().map(machine::normalise);
        given
            .filter(|id| !id.is_empty())
            .unwrap_or_else(|| self.detected_machine())
    }

    fn detected_machine(&self) -> String {
        machine::machine_id(&self.environment.machine_candidates)
    }

    /// The project of a directory: the top of its git repository, or itself.
    pub(crate) fn project(&self, moment: &Moment) -> Option<Project> {
        let directory = moment.directory.as_deref()?;
        let top = self.git.toplevel(directory).ok().flatten();
        let root = top.unwrap_or_else(|| directory.to_owned());
        let canonical = fs::canonicalize(&root).unwrap_or_else(|_| root.clone());
        let origin = self.git.remote_url(&root, "origin").ok().flatten();
        Some(Project::new(root, &canonical, origin))
    }

    /// What the record of an event says, as far as no manifest is needed for it.
    pub(crate) fn event_context(
        &self,
        project: Option<&Project>,
        moment: &Moment,
        repo: PathBuf,
    ) -> EventContext {
        let mut write_through = vec![self.environment.home_dir.clone()];
        write_through.extend(project.map(|project| project.root.clone()));
        EventContext {
            run_id: String::new(),
            snapshot_id: moment.snapshot_id(),
            created_at: moment.rfc3339(),
            repo,
            project: project.map(|project| (project.id.clone(), project.root.clone())),
            profile: None,
            lockfile_sha256: None,
            write_through,
            links: self.link_rule(project),
            fsync: self.environment.fsync,
        }
    }

    /// Where the links of a project may lead. In the user's home itself they are the user's own.
    pub(crate) fn link_rule(&self, project: Option<&Project>) -> LinkRule {
        let root = project.map(|project| project.root.clone());
        LinkRule {
            project: root.filter(|root| !self.environment.home_dir.starts_with(root)),
            destinations: self.environment.link_destinations.clone(),
        }
    }

    pub(crate) fn places(&self) -> Places {
        Places {
            home_dir: self.environment.home_dir.clone(),
            codex_home: self.environment.codex_home.clone(),
        }
    }
}

/// An open repository.
pub(crate) struct Workspace<'a> {
    pub(crate) pack: &'a Pack,
    pub(crate) common: Common,
    pub(crate) moment: Moment,
    pub(crate) state: PackState,
    pub(crate) repo: PathBuf,
    pub(crate) manifest: Manifest,
    pub(crate) manifest_warnings: Vec<FileWarning>,
    pub(crate) lockfile: Option<Lockfile>,
    pub(crate) lockfile_digest: Option<Digest>,
    pub(crate) machine_id: String,
    pub(crate) project: Option<Project>,
    pub(crate) profile: String,
    pub(crate) target: Option<Target>,
    pub(crate) targets: Vec<Target>,
    pub(crate) places: Places,
    pub(crate) hashes: StatCache,
    /// What a person should know about the repository.
    pub(crate) warnings: Vec<String>,
}

/// The repository rendered and compared with the disk.
pub(crate) struct Scene {
    pub(crate) desired: Desired,
    pub(crate) owned: Owned,
    pub(crate) disk: Disk,
}

impl<'a> Workspace<'a> {
    /// Opens the repository the arguments mean. What killed processes left half done in any root
    /// is settled first.
    pub(crate) fn open(pack: &'a Pack, common: Common, moment: Moment) -> Result<Self, Problem> {
        let state = pack.state();
        let mut warnings: Vec<String> = windlass_pack_deploy::state::recover(&state)?
            .into_iter()
            .flat_map(|run| run.warnings)
            .collect();
        let repo = pack.repo(&common, &moment);
        let ManifestFile {
            manifest,
            warnings: manifest_warnings,
            ..
        } = read_manifest(&repo)?;
        warnings.extend(manifest_warnings.iter().map(ToString::to_string));
        let filter = common.target.as_deref().unwrap_or("all");
        let target = parse_target_filter(filter)?;
        let targets = select_targets(&manifest, filter)?;
        let lock_path = repo.join(LOCK_FILE);
        let lock_text = read_optional(&lock_path)?;
        let lockfile = lock_text
            .as_deref()
            .map(|text| Lockfile::parse(text, &lock_path))
            .transpose()?;
        Ok(Self {
            machine_id: pack.machine_id(&common),
            project: pack.project(&moment),
            profile: common
                .profile
                .clone()
                .filter(|profile| !profile.is_empty())
                .unwrap_or_else(|| DEFAULT_PROFILE.to_owned()),
            places: pack.places(),
            hashes: StatCache::open(pack.environment.stat_cache.clone(), moment.now),
            lockfile_digest: lock_text.as_deref().map(|text| Digest::of(text.as_bytes())),
            pack,
            common,
            moment,
            state,
            repo,
            manifest,
            manifest_warnings,
            lockfile,
            target,
            targets,
            warnings,
        })
    }

    /// The git checkouts of this home.
    pub(crate) fn checkouts(&self) -> GitCheckouts<'_> {
        GitCheckouts::new(self.state.home(), &*self.pack.git)
    }

    /// What rendering works from.
    pub(crate) fn input<'b>(&'b self, checkouts: &'b GitCheckouts<'b>) -> RenderInput<'b> {
        RenderInput {
            repo: &self.repo,
            manifest: &self.manifest,
            profile: &self.profile,
            target: self.target,
            machine_id: &self.machine_id,
            project: self.project.as_ref(),
            places: &self.places,
            checkouts,
            lockfile: self.lockfile.as_ref(),
            hashes: &self.hashes,
        }
    }

    /// Renders, and looks at what is owned and there.
    pub(crate) fn look(&self) -> Result<Scene, Problem> {
        let checkouts = self.checkouts();
        let desired = render(&self.input(&checkouts))?;
        let owned = self.owned(&desired.roots)?;
        let disk = gather_disk(&desired, &owned, &self.hashes);
        Ok(Scene {
            desired,
            owned,
            disk,
        })
    }

    /// What pack owns in these roots and in those it had before.
    pub(crate) fn owned(&self, roots: &[TargetRoot]) -> Result<Owned, Problem> {
        let possible = self.possible_roots()?;
        gather_owned(
            &self.state,
            &OwnershipScope {
                repo: &self.repo,
                project_id: self.project.as_ref().map(|project| project.id.as_str()),
                target: self.target,
                roots,
                possible: &possible,
            },
        )
    }

    /// The roots that are switched on.
    pub(crate) fn roots(&self) -> Result<Vec<TargetRoot>, Problem> {
        let checkouts = self.checkouts();
        roots(&self.input(&checkouts))
    }

    /// Every directory an event of this repository may write in.
    pub(crate) fn roots_to_lock(&self) -> Result<Vec<PathBuf>, Problem> {
        let roots = self.roots()?;
        let mut directories = self.owned(&roots)?.directories();
        directories.extend(roots.into_iter().map(|root| root.path));
        directories.sort();
        directories.dedup();
        Ok(directories)
    }

    /// Every root the repository could have here, were all options on.
    fn possible_roots(&self) -> Result<Vec<TargetRoot>, Problem> {
        let mut everything = self.manifest.clone();
        everything.targets = Target::ALL
            .into_iter()
            .filter(|target| *target != Target::ExportDir)
            .filter(|target| self.project.is_some() || !target.is_project_only())
            .map(|target| {
                let configured = self.manifest.targets.get(&target);
                let mut options = configured
                    .map(|config| config.options.clone())
                    .unwrap_or_default();
                for option in target.options() {
                    if option.starts_with("write_") {
                        options.insert((*option).to_owned(), true.into());
                    }
                }
                let scope = match (&self.project, target.is_project_only()) {
                    (None, _) => ConfigScope::User,
                    (Some(_), true) => ConfigScope::Project,
                    (Some(_), false) => ConfigScope::Both,
                };
                let config = TargetConfig {
                    mode: TargetMode::Files,
                    scope,
                    options,
                };
                (target, config)
            })
            .collect();
        let checkouts = self.checkouts();
        roots(&RenderInput {
            manifest: &everything,
            // The filter may name a target that was left out here.
            target: None,
            ..self.input(&checkouts)
        })
    }

    /// Whether a deploy would move Codex's home.
    pub(crate) fn moved_home(&self, scene: &Scene) -> Option<MovedHome> {
        MovedHome::find(
            &self.manifest,
            &self.places,
            &scene.desired.roots,
            &scene.owned,
        )
    }

    /// The plan of a deploy.
    pub(crate) fn plan(&self, scene: &Scene) -> Result<DeployPlan, Problem> {
        let mut plan = plan(
            &scene.desired,
            &scene.owned,
            &scene.disk,
            &PlanOptions::default(),
        )?;
        plan.name_links(&self.pack.link_rule(self.project.as_ref()));
        let moved = self.moved_home(scene).map(|moved| moved.warning());
        plan.warnings.splice(0..0, moved);
        plan.warnings
            .splice(0..0, scene.desired.warnings.iter().cloned());
        plan.warnings.splice(0..0, self.warnings.iter().cloned());
        Ok(plan)
    }

    /// The arguments a confirm token is bound to.
    pub(crate) fn binding(&self) -> Binding {
        let default_repo = self.state.home().default_repo();
        let binding = Binding {
            machine: self.common.machine.clone(),
            profile: self.common.profile.clone(),
            // However the default is written: `~/…`, relative, with a slash at the end.
            repo: self
                .common
                .repo
                .clone()
                .filter(|_| self.repo != default_repo),
            target: self.common.target.clone(),
        };
        let defaults = BindingDefaults {
            machine: self.pack.detected_machine(),
            repo: default_repo.display().to_string(),
        };
        binding.normalised(&defaults)
    }

    /// The digests of a plan made here.
    pub(crate) fn hash(&self, plan: &DeployPlan) -> PlanHash {
        plan.hash(&self.binding(), &self.profile, &self.targets)
    }

    /// What the record of an event made here says.
    pub(crate) fn event_context(&self) -> EventContext {
        EventContext {
            profile: Some(self.profile.clone()),
            lockfile_sha256: self.lockfile_digest,
            ..self
                .pack
                .event_context(self.project.as_ref(), &self.moment, self.repo.clone())
        }
    }

    /// How suggestions repeat the arguments.
    pub(crate) fn caller(&self) -> Caller {
        self.common.caller(&self.pack.environment.program)
    }

    /// The operator assets that belong into these targets, in this scope.
    pub(crate) fn operator_input(&self, scope: ConfigScope) -> OperatorInput<'_> {
        OperatorInput {
            manifest: &self.manifest,
            targets: &self.targets,
            scope,
            project: self.project.as_ref(),
            places: &self.places,
            program: &self.pack.environment.program,
            version: env!("CARGO_PKG_VERSION"),
        }
    }

    /// Remembers digests for the next command; losing them costs time only.
    pub(crate) fn remember_hashes(&self) {
        if let Err(error) = self.hashes.save() {
            tracing::debug!(%error, "the cache of digests was not written");
        }
    }
}

/// The text of a file that need not be there.
pub(crate) fn read_optional(path: &Path) -> Result<Option<String>, Problem> {
    match fs::read(path) {
        Ok(bytes) => String::from_utf8(bytes).map(Some).map_err(|_| {
            fault::at(
                fault::config_invalid(format!("{} is not UTF-8 text", path.display())),
                path,
            )
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(fault::io("read", path, &error)),
    }
}
