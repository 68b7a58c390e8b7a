//! A quiz platform as architecture, UX spec and requirements, written by hand.

use std::path::Path;

use windlass_pipeline_code::{CodeInput, Error, Generated, generate};
use windlass_pipeline_design::model::{Architecture, Preset, Requirements, UxSpec};
use windlass_pipeline_design::spec::SpecContext;

/// The example specs.
pub const EXAMPLES: [&str; 4] = [
    "clinic-appointments",
    "knowledge-base",
    "quiz-platform",
    "warehouse",
];

/// Specs of many kinds of products, by many hands: name and text, sorted.
pub fn specs() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/specs");
    let mut specs: Vec<(String, String)> = fs_err::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            (name, fs_err::read_to_string(path).unwrap())
        })
        .collect();
    specs.sort();
    specs
}

/// A product to generate code for.
#[derive(Clone)]
pub struct Product {
    pub name: String,
    pub architecture: Architecture,
    pub ux: UxSpec,
    pub requirements: Requirements,
}

impl Product {
    /// The quiz platform.
    pub fn quiz() -> Self {
        Self {
            name: "Quiz Harbour".to_owned(),
            architecture: serde_json::from_str(include_str!("../fixtures/architecture.json"))
                .unwrap(),
            ux: serde_json::from_str(include_str!("../fixtures/ux.json")).unwrap(),
            requirements: serde_json::from_str(include_str!("../fixtures/requirements.json"))
                .unwrap(),
        }
    }

    /// One of the example specs, read and designed by the crates before this one.
    pub fn example(name: &str, preset: Preset) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join(format!("../../examples/pipeline/{name}.md"));
        Self::of(&fs_err::read_to_string(path).unwrap(), preset)
    }

    /// A spec, read and designed by the crates before this one.
    pub fn of(spec: &str, preset: Preset) -> Self {
        let spec = spec.trim();
        let analysis = windlass_pipeline_design::spec::analyse(spec, &SpecContext::default());
        let requirements = windlass_pipeline_design::spec::requirements(&analysis);
        let architecture = windlass_pipeline_design::architecture(&analysis, &requirements, preset);
        let ux = windlass_pipeline_design::ux(&analysis, &requirements, &architecture, None);
        Self {
            name: analysis
                .product
                .map_or_else(|| "Untitled app".to_owned(), |product| product.text),
            architecture,
            ux,
            requirements,
        }
    }

    pub fn generate(&self, preset: Preset, target_files: &[&str]) -> Result<Generated, Error> {
        let target_files: Vec<String> = target_files.iter().map(ToString::to_string).collect();
        generate(&CodeInput {
            product: &self.name,
            architecture: &self.architecture,
            ux: &self.ux,
            requirements: &self.requirements,
            preset,
            target_files: &target_files,
        })
    }
}

/// Writes the files of a project below a folder.
pub fn write(generated: &Generated, folder: &Path) {
    for file in &generated.files {
        let path = folder.join(&file.path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, &file.content).unwrap();
    }
}

/// The content of a file.
pub fn file<'a>(generated: &'a Generated, path: &str) -> &'a str {
    let found = generated.files.iter().find(|file| file.path == path);
    &found
        .unwrap_or_else(|| panic!("there is no {path}"))
        .content
}
