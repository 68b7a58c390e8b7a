//! Fills a target's slots with what its modules come to.
//!
//! Pure: works on composed modules in memory and hands files and keys to `desired`.

use std::path::Path;

use windlass_pack_model::{
    Content, DesiredFile, DesiredKey, Form, KeyFormat, Layer, Module, ModuleType, Origin, RelPath,
    Target,
    module_id::{module_fs_key, output_name},
};
use windlass_types::{Digest, Problem};

use crate::render::{
    compose::Composed,
    cursor_rule::wrap_cursor_rule,
    desired::Collected,
    hook::Hook,
    markers::aggregate,
    mcp::{Dialect, Server},
    shape::{broken, only_file, text_of},
    subagent::Subagent,
    target::{Output, Slot},
};

/// A module that is selected, with what it comes to.
#[derive(Clone, Copy)]
pub(crate) struct Part<'a> {
    pub(crate) module: &'a Module,
    pub(crate) composed: &'a Composed,
}

impl Part<'_> {
    fn origin(&self, path: &RelPath, layer: Layer) -> Origin {
        Origin {
            module_id: self.module.id.clone(),
            module_type: self.module.module_type.as_str().to_owned(),
            module_path: path.clone(),
            layer,
        }
    }
}

/// Whether a file of an instructions module is a rule of Cursor's.
fn is_rule(path: &RelPath) -> bool {
    path.as_str().ends_with(".mdc")
}

/// Fills the slots of one target.
pub(crate) struct Filler<'a> {
    pub(crate) target: Target,
    /// The modules that are for the target and have a slot, by id.
    pub(crate) parts: &'a [Part<'a>],
    pub(crate) into: &'a mut Collected,
    /// The instructions of all modules, once they have been put together.
    pub(crate) whole: Option<Whole>,
}

/// All instructions of a target as one file.
#[derive(Clone)]
pub(crate) struct Whole {
    content: Content,
    module_ids: Vec<String>,
    origins: Vec<Origin>,
    form: Form,
}

impl<'a> Filler<'a> {
    /// Fills one slot.
    pub(crate) fn fill(&mut self, slot: &Slot) -> Result<(), Problem> {
        let dir = slot.dir();
        match &slot.output {
            Output::Aggregate(file) => {
                if let Some(whole) = self.whole()? {
                    self.add_whole(&dir, file, whole);
                }
            }
            Output::ClaudeMd { import } => self.claude_md(&dir, import.as_deref())?,
            output => {
                let kind = output.takes();
                let parts = self.parts;
                for part in parts.iter().filter(|part| part.module.module_type == kind) {
                    self.fill_from(&dir, output, *part)?;
                }
            }
        }
        Ok(())
    }

    fn fill_from(&mut self, dir: &Path, output: &Output, part: Part<'a>) -> Result<(), Problem> {
        let (module, tree) = (part.module, &part.composed.tree);
        match output {
            // Made of all modules at once.
            Output::Aggregate(_) | Output::ClaudeMd { .. } => {}
            // A module may bring rules as Cursor has them, with frontmatter of their own.
            Output::CursorRules if tree.keys().any(is_rule) => {
                for (path, content) in tree.iter().filter(|(path, _)| is_rule(path)) {
                    self.add(dir, path, content, part, path, Form::Verbatim);
                }
            }
            Output::CursorRules => {
                let (path, content) = agents_md(part)?;
                let rule = wrap_cursor_rule(&module.id, text_of(module, tree, path.as_str())?);
                let rule = Content::of(rule.into_bytes(), false, content.layer);
                let name = file_name(module, format!("{}.mdc", module_fs_key(&module.id)))?;
                self.add(dir, &name, &rule, part, path, Form::CursorRule);
            }
            Output::Skills => {
                let name = output_name(module)?;
                self.into.nested |= name.as_str().contains('/');
                for (path, content) in tree {
                    self.add(dir, &name.join(path), content, part, path, Form::Verbatim);
                }
            }
            Output::Prompts | Output::Commands | Output::Agents => {
                let (path, content) = only_file(module, tree, &["md"])?;
                let name = file_name(module, path.file_name().to_owned())?;
                self.add(dir, &name, content, part, path, Form::Verbatim);
            }
            Output::CopilotPrompts => {
                let (path, content) = only_file(module, tree, &["md"])?;
                let file = path.file_name();
                let stem = file.strip_suffix(".md").unwrap_or(file);
                let stem = stem.strip_suffix(".prompt").unwrap_or(stem);
                let name = file_name(module, format!("{stem}.prompt.md"))?;
                self.add(dir, &name, content, part, path, Form::Verbatim);
            }
            Output::CodexAgents => {
                let agent = Subagent::read(module, tree)?;
                let file = Content::of(agent.codex_toml().into_bytes(), false, agent.layer);
                let name = file_name(module, format!("{}.toml", agent.name))?;
                self.add(dir, &name, &file, part, agent.path, Form::Generated);
            }
            Output::McpServers(file, dialect) => self.mcp_server(dir, file, *dialect, part)?,
            Output::Hooks(file) => self.hook(dir, file, part)?,
        }
        Ok(())
    }

    fn mcp_server(
        &mut self,
        dir: &Path,
        file: &str,
        dialect: Dialect,
        part: Part<'a>,
    ) -> Result<(), Problem> {
        let server = Server::read(part.module, &part.composed.tree)?;
        let value = server.value(part.module, dialect)?;
        let pointer = format!("/{}/{}", dialect.table(), server.name);
        self.add_key(dir, file, dialect.format(), pointer, value, part);
        Ok(())
    }

    fn hook(&mut self, dir: &Path, file: &str, part: Part<'a>) -> Result<(), Problem> {
        let hook = Hook::read(part.module, &part.composed.tree)?;
        let pointer = format!("/hooks/{}/-", hook.event);
        self.add_key(dir, file, KeyFormat::Json, pointer, hook.value(), part);
        Ok(())
    }

    fn claude_md(&mut self, dir: &Path, import: Option<&str>) -> Result<(), Problem> {
        let Some(mut whole) = self.whole()? else {
            return Ok(());
        };
        if let Some(import) = import {
            let line = format!("{import}\n");
            whole.content = Content::of(line.into_bytes(), false, whole.content.layer);
            whole.form = Form::Generated;
        }
        self.add_whole(dir, "CLAUDE.md", whole);
        Ok(())
    }

    /// The instructions of all modules; nothing when there are none.
    fn whole(&mut self) -> Result<Option<Whole>, Problem> {
        if self.whole.is_none() {
            self.whole = self.put_together()?;
        }
        Ok(self.whole.clone())
    }

    fn put_together(&self) -> Result<Option<Whole>, Problem> {
        let mut texts = Vec::new();
        let mut origins = Vec::new();
        for part in self.parts {
            if part.module.module_type != ModuleType::Instructions {
                continue;
            }
            let (path, content) = agents_md(*part)?;
            let text = text_of(part.module, &part.composed.tree, path.as_str())?;
            texts.push((part.module.id.as_str(), text));
            origins.push((part.origin(path, content.layer), content));
        }
        let (content, form) = match origins.as_slice() {
            [] => return Ok(None),
            [(_, content)] => ((*content).clone(), Form::Verbatim),
            // No single layer supplied it; the origins say where each part comes from.
            _ => (
                Content::of(aggregate(&texts).into_bytes(), false, Layer::Upstream),
                Form::Aggregate,
            ),
        };
        Ok(Some(Whole {
            content,
            module_ids: texts.iter().map(|(id, _)| (*id).to_owned()).collect(),
            origins: origins.into_iter().map(|(origin, _)| origin).collect(),
            form,
        }))
    }

    fn add_whole(&mut self, dir: &Path, name: &str, whole: Whole) {
        self.into.files.push(DesiredFile {
            target: self.target,
            path: dir.join(name),
            digest: whole.content.digest,
            len: whole.content.len,
            executable: whole.content.executable,
            body: whole.content.body,
            module_ids: whole.module_ids,
            origins: whole.origins,
            form: whole.form,
        });
    }

    fn add(
        &mut self,
        dir: &Path,
        name: &RelPath,
        content: &Content,
        part: Part<'a>,
        path: &RelPath,
        form: Form,
    ) {
        self.into.files.push(DesiredFile {
            target: self.target,
            path: name.under(dir),
            digest: content.digest,
            len: content.len,
            executable: content.executable,
            body: content.body.clone(),
            module_ids: vec![part.module.id.clone()],
            origins: vec![part.origin(path, content.layer)],
            form,
        });
    }

    fn add_key(
        &mut self,
        dir: &Path,
        file: &str,
        format: KeyFormat,
        pointer: String,
        value: serde_json::Value,
        part: Part<'a>,
    ) {
        let source = part.composed.tree.iter().next();
        let Some((path, content)) = source else {
            return;
        };
        self.into.keys.push(DesiredKey {
            target: self.target,
            path: dir.join(file),
            format,
            pointer,
            digest: Digest::of_json(&value),
            value,
            module_ids: vec![part.module.id.clone()],
            origin: part.origin(path, content.layer),
        });
    }
}

/// The `AGENTS.md` of an instructions module.
fn agents_md(part: Part<'_>) -> Result<(&RelPath, &Content), Problem> {
    let found = part
        .composed
        .tree
        .iter()
        .find(|(path, _)| path.as_str() == "AGENTS.md");
    found.ok_or_else(|| broken(part.module, "has no AGENTS.md").with("missing", "AGENTS.md"))
}

/// A file's name as a path below its root.
fn file_name(module: &Module, name: String) -> Result<RelPath, Problem> {
    RelPath::new(name).map_err(|error| {
        broken(
            module,
            &format!("gives a file a name that is not one: {error}"),
        )
        .with("name", error.path)
    })
}
