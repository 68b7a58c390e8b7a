//! `subagent` modules: one Markdown file; Codex takes it as TOML.

use windlass_pack_model::{Frontmatter, Layer, Module, RelPath, Tree};
use windlass_types::Problem;

use crate::render::{
    frontmatter::Head,
    shape::{broken, only_file, text},
};

/// A sub-agent as its module defines it.
#[derive(Debug)]
pub(crate) struct Subagent<'t> {
    /// The file.
    pub(crate) path: &'t RelPath,
    pub(crate) layer: Layer,
    pub(crate) name: String,
    description: String,
    /// The instructions after the frontmatter.
    body: &'t str,
}

impl<'t> Subagent<'t> {
    /// Reads and checks a module.
    pub(crate) fn read(module: &Module, tree: &'t Tree) -> Result<Self, Problem> {
        let (path, content) = only_file(module, tree, &["md"])?;
        let frontmatter = Head::read(module, path.as_str(), text(module, path.as_str(), content)?)?;
        let name = frontmatter.required(module, "name")?.trim().to_owned();
        let description = frontmatter.required(module, "description")?.to_owned();
        // It names a file.
        if RelPath::new(name.as_str()).is_err() || name.contains('/') {
            return Err(broken(module, &format!("has the name {name:?} in {path}"))
                .with("path", path.as_str())
                .with("field", "name")
                .with("expected", "a name that can be a file's"));
        }
        Ok(Self {
            path,
            layer: content.layer,
            name,
            description,
            body: frontmatter.body(),
        })
    }

    /// The agent file of Codex.
    pub(crate) fn codex_toml(&self) -> String {
        toml(&self.name, &self.description, self.body)
    }
}

/// The agent file of Codex for a sub-agent's Markdown.
pub fn subagent_toml(markdown: &str) -> Option<String> {
    let matter = Frontmatter::parse(markdown).ok()?;
    let name = matter.text("name")?.trim();
    Some(toml(name, matter.text("description")?, matter.body))
}

fn toml(name: &str, description: &str, body: &str) -> String {
    let mut file = toml_edit::DocumentMut::new();
    file["name"] = toml_edit::value(name);
    file["description"] = toml_edit::value(description);
    file["developer_instructions"] = toml_edit::value(body.trim_start_matches('\n'));
    file.to_string()
}
