//! What each target takes and where: one file per tool, each a list of slots.
//!
//! Decides from the manifest alone; nothing here reads a file. Filling the slots is `output`'s
//! work.

mod claude_code;
mod codex;
mod cursor;
mod export_dir;
mod jetbrains;
mod vscode;
mod zed;

use std::path::{Path, PathBuf};

use windlass_pack_model::{Module, ModuleType, RootScope, Target, TargetConfig, TargetRoot, fault};
use windlass_types::Problem;

use crate::render::{Places, RenderInput, mcp::Dialect};

/// A directory and what goes into it.
#[derive(Debug)]
pub(crate) struct Slot {
    /// The directory in which the files are owned.
    pub(crate) root: PathBuf,
    pub(crate) scope: RootScope,
    pub(crate) scan_extras: bool,
    /// The directory below the root that the files go to.
    pub(crate) below: Option<&'static str>,
    pub(crate) output: Output,
}

impl Slot {
    /// The directory the files go to.
    pub(crate) fn dir(&self) -> PathBuf {
        match self.below {
            Some(below) => self.root.join(below),
            None => self.root.clone(),
        }
    }

    pub(crate) fn target_root(&self, target: Target) -> TargetRoot {
        TargetRoot {
            target,
            path: self.root.clone(),
            scan_extras: self.scan_extras,
            scope: self.scope,
        }
    }
}

/// What goes into a slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    /// All instructions in one file.
    Aggregate(&'static str),
    /// `CLAUDE.md`: one line that imports the same instructions from another file, or the
    /// instructions themselves.
    ClaudeMd { import: Option<String> },
    /// A rule file per instructions module.
    CursorRules,
    /// A directory per skill.
    Skills,
    /// A file per prompt, under its own name.
    Prompts,
    /// A file per prompt, ending in `.prompt.md`.
    CopilotPrompts,
    /// A file per command.
    Commands,
    /// A Markdown file per sub-agent.
    Agents,
    /// A TOML file per sub-agent.
    CodexAgents,
    /// A key per MCP server in a shared file.
    McpServers(&'static str, Dialect),
    /// An array element per hook in a shared JSON file.
    Hooks(&'static str),
}

impl Output {
    /// The type of module it is made of.
    pub(crate) fn takes(&self) -> ModuleType {
        match self {
            Self::Aggregate(_) | Self::ClaudeMd { .. } | Self::CursorRules => {
                ModuleType::Instructions
            }
            Self::Skills => ModuleType::Skill,
            Self::Prompts | Self::CopilotPrompts => ModuleType::Prompt,
            Self::Commands => ModuleType::Command,
            Self::Agents | Self::CodexAgents => ModuleType::Subagent,
            Self::McpServers(..) => ModuleType::McpServer,
            Self::Hooks(_) => ModuleType::Hook,
        }
    }
}

/// One target of a manifest, and what it depends on.
pub(crate) struct Site<'a> {
    pub(crate) target: Target,
    pub(crate) config: &'a TargetConfig,
    input: &'a RenderInput<'a>,
    /// The selected modules, whatever their targets.
    modules: &'a [&'a Module],
}

impl<'a> Site<'a> {
    pub(crate) fn new(
        input: &'a RenderInput<'a>,
        target: Target,
        config: &'a TargetConfig,
        modules: &'a [&'a Module],
    ) -> Self {
        Self {
            target,
            config,
            input,
            modules,
        }
    }

    /// The slots of the target, and what people should know about what has no slot.
    pub(crate) fn slots(&self) -> Result<Slots, Problem> {
        let mut slots = Slots::default();
        match self.target {
            Target::ClaudeCode => claude_code::slots(self, &mut slots)?,
            Target::Codex => codex::slots(self, &mut slots)?,
            Target::Cursor => cursor::slots(self, &mut slots)?,
            Target::ExportDir => export_dir::slots(self, &mut slots)?,
            Target::Jetbrains => jetbrains::slots(self, &mut slots)?,
            Target::Vscode => vscode::slots(self, &mut slots)?,
            Target::Zed => zed::slots(self, &mut slots)?,
        }
        Ok(slots)
    }

    fn places(&self) -> &Places {
        self.input.places
    }

    fn flag(&self, option: &str, default: bool) -> bool {
        self.config.flag(option, default)
    }

    fn user(&self) -> bool {
        self.config.scope.has_user()
    }

    /// The project's directory, when the scope includes it.
    fn project(&self) -> Result<Option<&'a Path>, Problem> {
        if !self.config.scope.has_project() {
            return Ok(None);
        }
        self.project_dir().map(Some)
    }

    fn project_dir(&self) -> Result<&'a Path, Problem> {
        match self.input.project {
            Some(project) => Ok(&project.root),
            None => Err(fault::config_invalid(format!(
                "target {} writes into a project, but no project is set; start the server with --project <dir>, or give the target scope user",
                self.target
            ))
            .with("target", self.target.as_str())
            .with("scope", self.config.scope.as_str())),
        }
    }

    /// The selected modules of a type that are for a target.
    fn modules_for(
        &self,
        kind: ModuleType,
        target: Target,
    ) -> impl Iterator<Item = &'a Module> + use<'a> {
        self.modules
            .iter()
            .copied()
            .filter(move |module| module.module_type == kind && module.is_for(target))
    }

    /// Whether a module of a type is selected for this target. Slots that 0.9.1 does not know
    /// exist only then, so that its repositories keep their roots.
    fn has(&self, kind: ModuleType) -> bool {
        self.modules_for(kind, self.target).next().is_some()
    }

    /// Another target of the same manifest.
    fn sibling(&self, target: Target) -> Option<Self> {
        let config = self.input.manifest.targets.get(&target)?;
        Some(Self::new(self.input, target, config, self.modules))
    }

    /// A directory named in the manifest or the environment.
    fn absolute(&self, path: PathBuf, option: &str) -> Result<PathBuf, Problem> {
        if path.is_absolute() {
            return Ok(path);
        }
        Err(fault::config_invalid(format!(
            "{option} of target {} is {}, which is relative; give an absolute path or one that starts with ~/",
            self.target,
            path.display()
        ))
        .with("target", self.target.as_str())
        .with("option", option))
    }
}

/// The slots of one target.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    pub(crate) list: Vec<Slot>,
    pub(crate) warnings: Vec<String>,
}

impl Slots {
    fn user(&mut self, root: PathBuf, scan_extras: bool, output: Output) {
        self.add(root, RootScope::User, scan_extras, output);
    }

    fn project(&mut self, root: PathBuf, scan_extras: bool, output: Output) {
        self.add(root, RootScope::Project, scan_extras, output);
    }

    fn add(&mut self, root: PathBuf, scope: RootScope, scan_extras: bool, output: Output) {
        self.list.push(Slot {
            root,
            scope,
            scan_extras,
            below: None,
            output,
        });
    }

    /// Says that modules of a type have nowhere to go under the target's scope.
    fn no_place(&mut self, site: &Site<'_>, kind: ModuleType, instead: &str) {
        for module in site.modules_for(kind, site.target) {
            self.warnings.push(format!(
                "module {} ({kind}) is not deployed to {}: with scope {} there is no place for it; {instead}, or leave {} out of the module's targets",
                module.id,
                site.target,
                site.config.scope.as_str(),
                site.target,
            ));
        }
    }
}
