//! Composes a module: its own files, then each overlay in turn.

use std::path::{Path, PathBuf};

use windlass_pack_model::{Layer, Module, OverlayConfig, OverlayKind, RelPath, Tree, fault};
use windlass_types::Problem;

use crate::render::{
    RenderInput, baseline,
    overlay::Overlays,
    patch, read, shape,
    source::{SourceTree, Sources, keeps_text},
    unmerged::{self, Unmerged, is_merging},
    walk::{Found, METADATA, Walk, follow},
};

/// A module with its overlays.
#[derive(Clone, Debug)]
pub struct Composed {
    /// What it comes to.
    pub tree: Tree,
    /// Its own files, where an overlay changed something.
    below: Option<SourceTree>,
    /// What people should know.
    pub warnings: Vec<String>,
    /// Its files that may not be deployed: conflict markers are left in them.
    pub(crate) unmerged: Vec<Unmerged>,
}

impl Composed {
    /// The files without any overlay.
    pub fn upstream(&self) -> &Tree {
        self.below.as_ref().map_or(&self.tree, |below| &below.tree)
    }
}

/// Composes one module and checks its shape.
pub fn compose_module(input: &RenderInput<'_>, module: &Module) -> Result<Composed, Problem> {
    let sources = Sources::new(input)?;
    let overlays = Overlays::find(input)?;
    let composed = compose(input, &sources, &overlays, module)?;
    unmerged::refuse(&composed.unmerged)?;
    Ok(composed)
}

pub(crate) fn compose(
    input: &RenderInput<'_>,
    sources: &Sources<'_>,
    overlays: &Overlays,
    module: &Module,
) -> Result<Composed, Problem> {
    let mut upstream = sources.load(module)?;
    let mut warnings = Vec::new();
    let mut unmerged: Vec<Unmerged> = std::mem::take(&mut upstream.unmerged)
        .into_iter()
        .filter_map(|file| file.refused(is_merging(input.repo)))
        .collect();
    let mut layers = overlays.of(&module.id).peekable();
    let composed = if layers.peek().is_none() {
        Composed {
            tree: upstream.tree,
            below: None,
            warnings,
            unmerged,
        }
    } else {
        let mut tree = upstream.tree.clone();
        for (layer, dir) in layers {
            let overlay = Overlay {
                module,
                layer,
                dir: &dir,
            };
            let found = overlay.apply(input, sources, &upstream, &mut tree, &mut warnings)?;
            unmerged.extend(found);
        }
        Composed {
            tree,
            below: Some(upstream),
            warnings,
            unmerged,
        }
    };
    // With markers in it nothing has the right shape, and the markers are the reason.
    if composed.unmerged.is_empty() {
        shape::check(module, &composed.tree)?;
    }
    Ok(composed)
}

/// One overlay of one module.
pub(crate) struct Overlay<'a> {
    pub(crate) module: &'a Module,
    pub(crate) layer: Layer,
    pub(crate) dir: &'a Path,
}

impl Overlay<'_> {
    fn apply(
        &self,
        input: &RenderInput<'_>,
        sources: &Sources<'_>,
        upstream: &SourceTree,
        tree: &mut Tree,
        warnings: &mut Vec<String>,
    ) -> Result<Vec<Unmerged>, Problem> {
        let Some(dir) = self
            .real_dir(sources)
            .map_err(|problem| self.named(problem))?
        else {
            return Ok(Vec::new());
        };
        let kind = self.module.module_type;
        let Found {
            tree: files,
            unmerged,
            ..
        } = Walk {
            fence: &sources.fence,
            hashes: input.hashes,
            layer: self.layer,
            keep_text: &|path| keeps_text(kind, path),
            read_hidden: false,
        }
        .directory(&dir)
        .map_err(|problem| self.named(problem))?;
        let metadata = dir.join(METADATA);
        if !unmerged.is_empty() {
            // `overlay rebase` keeps this file as long as a conflict is not resolved.
            let merging = metadata.join("rebase.json").exists() || is_merging(input.repo);
            let refused: Vec<Unmerged> = unmerged
                .into_iter()
                .filter_map(|file| file.refused(merging))
                .collect();
            if !refused.is_empty() {
                return Ok(refused);
            }
        }
        let config = self.config(&metadata)?;
        let patches =
            patch::list(&metadata.join("patches")).map_err(|problem| self.named(problem))?;
        self.one_kind(config.overlay_kind, &files, &patches)?;

        let touched: Vec<&RelPath> = files
            .keys()
            .chain(patches.iter().map(|patch| &patch.target))
            .chain(&config.delete)
            .collect();
        baseline::compare(self, &metadata, upstream, &touched, warnings)?;

        for path in &config.delete {
            if tree.remove(path).is_none() {
                warnings.push(format!(
                    "overlay ({}) module {}: delete names {path}, which no lower layer has",
                    self.layer, self.module.id
                ));
            }
        }
        match config.overlay_kind {
            OverlayKind::Dir => tree.extend(files),
            OverlayKind::Patch => {
                for patch in &patches {
                    patch::apply(self, patch, tree)?;
                }
            }
        }
        Ok(Vec::new())
    }

    /// The overlay's directory by its real path; nothing when the name is a file's.
    fn real_dir(&self, sources: &Sources<'_>) -> Result<Option<PathBuf>, Problem> {
        let mut dir = sources.overlay_dir(self.dir)?;
        let mut metadata =
            std::fs::symlink_metadata(&dir).map_err(|error| fault::io("look at", &dir, &error))?;
        if metadata.is_symlink() {
            dir = follow(&dir)?;
            sources.fence.admit(self.dir, &dir)?;
            metadata =
                std::fs::metadata(&dir).map_err(|error| fault::io("look at", &dir, &error))?;
        }
        Ok(metadata.is_dir().then_some(dir))
    }

    fn config(&self, metadata: &Path) -> Result<OverlayConfig, Problem> {
        let path = metadata.join("overlay.json");
        let Some(text) = read::text_if_present(&path)? else {
            return Ok(OverlayConfig::default());
        };
        OverlayConfig::parse(&text, &path).map_err(|problem| self.named(problem))
    }

    /// Files and patches do not go together, and neither with the other's kind.
    fn one_kind(
        &self,
        kind: OverlayKind,
        files: &Tree,
        patches: &[patch::PatchFile],
    ) -> Result<(), Problem> {
        let fault = |message: String, hint: &str| {
            let names: Vec<String> = files.keys().map(ToString::to_string).collect();
            let patches: Vec<String> = patches
                .iter()
                .map(|patch| format!("{METADATA}/patches/{}.patch", patch.target))
                .collect();
            Err(self
                .named(fault::config_invalid(message))
                .with("override_files", names)
                .with("patch_files", patches)
                .with("hint", hint))
        };
        let (id, scope) = (&self.module.id, self.layer);
        match kind {
            _ if !files.is_empty() && !patches.is_empty() => fault(
                format!("the {scope} overlay of module {id} mixes override files and patches"),
                "keep one kind per overlay directory: files, or patches under .agentpack/patches",
            ),
            OverlayKind::Dir if !patches.is_empty() => fault(
                format!(
                    "the {scope} overlay of module {id} has patches, but its overlay_kind is dir"
                ),
                "set overlay_kind to patch in .agentpack/overlay.json, or remove .agentpack/patches",
            ),
            OverlayKind::Patch if !files.is_empty() => fault(
                format!(
                    "the {scope} overlay of module {id} has override files, but its overlay_kind is patch"
                ),
                "move the edits into .agentpack/patches/<path>.patch, or set overlay_kind to dir",
            ),
            OverlayKind::Dir | OverlayKind::Patch => Ok(()),
        }
    }

    /// The problem, saying whose overlay it is about.
    pub(crate) fn named(&self, problem: Problem) -> Problem {
        problem
            .with("module_id", self.module.id.as_str())
            .with("scope", self.layer.as_str())
            .with("overlay_dir", self.dir.display().to_string())
            .with("overlay_dir_posix", fault::posix(self.dir))
    }
}
