//! What the schema cannot say about a resource type: read from `types.toml`.

use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Type {
    pub name: String,
    pub tags: Vec<String>,
    /// What it is and when to use it.
    pub about: String,
    /// The resource's name where parameters are shown.
    #[serde(default = "sample_name")]
    pub sample_name: String,
    /// What `$ResourceParam` gives.
    #[serde(default)]
    pub parameters: Vec<String>,
    /// What connectTo allows.
    #[serde(default)]
    pub grants: Option<String>,
    /// CloudFormation types.
    pub creates: String,
    #[serde(default)]
    pub notes: Vec<Note>,
    /// Pages from `docs/stack/`, without `.md`.
    #[serde(default)]
    pub related: Vec<String>,
    /// A whole config.
    pub example: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Note {
    pub heading: String,
    pub text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "type")]
    types: Vec<Type>,
}

fn sample_name() -> String {
    "main".to_owned()
}

pub(super) fn types() -> Result<Vec<Type>, toml::de::Error> {
    toml::from_str::<File>(include_str!("types.toml")).map(|file| file.types)
}
