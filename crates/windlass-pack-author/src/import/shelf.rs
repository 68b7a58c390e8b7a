//! Candidates of one scope: what they are called, tagged, and where they go.

use std::path::{Path, PathBuf};

use windlass_pack_model::{ModuleType, Target};

use super::{
    ImportRequest,
    scan::{Candidate, Evidence, component, file_name, stem},
};

/// How things of one scope are named and tagged.
pub(super) struct Shelf<'a> {
    repo: &'a Path,
    /// The project's name; none for the user.
    pub(super) project: Option<&'a str>,
}

impl<'a> Shelf<'a> {
    pub(super) fn new(request: &ImportRequest<'a>, project: Option<&'a str>) -> Self {
        Self {
            repo: request.repo,
            project,
        }
    }

    pub(super) fn prompt(&self, path: PathBuf) -> Candidate {
        let below = format!("modules/prompts/imported/{}", file_name(&path));
        let id = format!("prompt:{}", component(&stem(&path)));
        self.found(
            (ModuleType::Prompt, id),
            path,
            below,
            Target::Codex,
            Some(("write_user_prompts", true)),
        )
    }

    /// VS Code's own ending is not part of the name: a deploy adds it again.
    pub(super) fn copilot_prompt(&self, path: PathBuf) -> Candidate {
        let file = file_name(&path);
        let stem = file.strip_suffix(".prompt.md").unwrap_or(&file);
        let shelf = self.project.unwrap_or("user");
        let below = format!("modules/prompts/imported/{shelf}/{stem}.md");
        let id = format!("prompt:{}", self.prefixed(component(stem)));
        self.found(
            (ModuleType::Prompt, id),
            path,
            below,
            Target::Vscode,
            Some(("write_prompts", true)),
        )
    }

    pub(super) fn skill(
        &self,
        path: PathBuf,
        target: Target,
        option: (&'static str, bool),
    ) -> Candidate {
        let directory = file_name(&path);
        let name = self.prefixed(component(&directory));
        let below = format!("modules/skills/imported/{name}");
        let id = format!("skill:{name}");
        Candidate {
            // The directory's name is the skill's.
            name: (name != directory).then_some(directory),
            ..self.found((ModuleType::Skill, id), path, below, target, Some(option))
        }
    }

    pub(super) fn command(&self, path: PathBuf) -> Candidate {
        let shelf = self.project.unwrap_or("user");
        let below = format!(
            "modules/claude-commands/imported/{shelf}/{}",
            file_name(&path)
        );
        let id = format!("command:{}", self.prefixed(component(&stem(&path))));
        let option = match self.project {
            Some(_) => ("write_repo_commands", true),
            None => ("write_user_commands", true),
        };
        self.found(
            (ModuleType::Command, id),
            path,
            below,
            Target::ClaudeCode,
            Some(option),
        )
    }

    pub(super) fn agent(&self, path: PathBuf) -> Candidate {
        let shelf = self.project.unwrap_or("user");
        let below = format!("modules/agents/imported/{shelf}/{}", file_name(&path));
        let id = format!("subagent:{}", self.prefixed(component(&stem(&path))));
        self.found(
            (ModuleType::Subagent, id),
            path,
            below,
            Target::ClaudeCode,
            None,
        )
    }

    pub(super) fn made_agent(
        &self,
        path: PathBuf,
        evidence: Evidence,
        made: Result<(String, Vec<u8>), String>,
    ) -> Candidate {
        let stem = stem(&path);
        let below = format!("modules/agents/imported/user/{stem}.md");
        let id = format!("subagent:{}", component(&stem));
        let (made, broken) = match made {
            Ok(file) => (vec![file], None),
            Err(reason) => (Vec::new(), Some(reason)),
        };
        Candidate {
            made: Some(made),
            broken,
            evidence: vec![evidence],
            whole: vec![path.clone()],
            ..self.named(ModuleType::Subagent, id, path, below, &[Target::Codex])
        }
    }

    pub(super) fn prefixed(&self, name: String) -> String {
        match self.project {
            Some(project) => format!("{project}-{name}"),
            None => name,
        }
    }

    fn found(
        &self,
        (module_type, id): (ModuleType, String),
        source: PathBuf,
        below: String,
        target: Target,
        option: Option<(&'static str, bool)>,
    ) -> Candidate {
        let evidence = Evidence {
            target,
            option,
            project: self.project.is_some(),
        };
        Candidate {
            evidence: vec![evidence],
            ..self.named(module_type, id, source, below, &[target])
        }
    }

    pub(super) fn named(
        &self,
        module_type: ModuleType,
        module_id: String,
        source: PathBuf,
        below: String,
        targets: &[Target],
    ) -> Candidate {
        Candidate {
            module_id,
            module_type,
            name: None,
            of_project: self.project.is_some(),
            targets: targets.to_vec(),
            tags: match self.project {
                None => ["base", "imported", "user"].map(str::to_owned).to_vec(),
                Some(project) => ["imported", "project", project].map(str::to_owned).to_vec(),
            },
            source_is_file: module_type != ModuleType::Skill,
            destination: self.repo.join(&below),
            destination_in_repo: below,
            source,
            made: None,
            broken: None,
            evidence: Vec::new(),
            whole: Vec::new(),
        }
    }
}
