//! Finds the overlays of modules: which directories there are, per layer.
//!
//! The directory names of a layer are read once; asking for a module's overlay then costs no
//! call to the system. What an overlay does is `layering`'s work.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use windlass_pack_model::{Layer, fault, module_id::overlay_keys, overlay::layer_dir};
use windlass_types::Problem;

use crate::render::RenderInput;

/// The overlays of one repository, for one machine and project.
#[derive(Debug)]
pub struct Overlays {
    layers: Vec<Shelf>,
}

#[derive(Debug)]
struct Shelf {
    layer: Layer,
    path: PathBuf,
    names: HashSet<String>,
}

impl Overlays {
    /// Reads which overlays there are.
    pub fn find(input: &RenderInput<'_>) -> Result<Self, Problem> {
        let project_id = input.project.map(|project| project.id.as_str());
        let mut layers = Vec::new();
        for layer in Layer::OVERLAYS {
            let Some(dir) = layer_dir(layer, input.machine_id, project_id) else {
                continue;
            };
            let path = input.repo.join(dir);
            let names = names_in(&path)?;
            if !names.is_empty() {
                layers.push(Shelf { layer, path, names });
            }
        }
        Ok(Self { layers })
    }

    /// The overlay directories of a module that exist, lowest layer first.
    pub fn of<'a>(&'a self, module_id: &'a str) -> impl Iterator<Item = (Layer, PathBuf)> + 'a {
        let names = if self.layers.is_empty() {
            Vec::new()
        } else {
            overlay_keys(module_id)
        };
        self.layers.iter().filter_map(move |shelf| {
            let name = names.iter().find(|name| shelf.names.contains(*name))?;
            Some((shelf.layer, shelf.path.join(name)))
        })
    }
}

fn names_in(path: &Path) -> Result<HashSet<String>, Problem> {
    let failed = |error: &std::io::Error| fault::io("read directory", path, error);
    let entries = match std::fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) => {
            return match error.kind() {
                std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => {
                    Ok(HashSet::new())
                }
                _ => Err(failed(&error)),
            };
        }
    };
    let mut names = HashSet::new();
    for entry in entries {
        let entry = entry.map_err(|error| failed(&error))?;
        if let Ok(name) = entry.file_name().into_string() {
            names.insert(name);
        }
    }
    Ok(names)
}
