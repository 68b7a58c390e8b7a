//! The fuzz targets, one per file, and the table of their names.
//!
//! A target takes any bytes and panics when the parser breaks a promise.

mod json_rpc_line;
mod launch_config;
mod launch_frontmatter;
mod launch_markdown;
mod model_stream;
mod pack_keys;
mod pack_manifest;
mod pack_markers;
mod pack_records;
mod pack_source;
mod pack_yaml_edit;
mod pipeline_spec;
mod policy;
mod redact;
mod settings;
mod shell_line;
mod stack_config;
mod stack_sql;
mod text_patch;
mod token;

/// Takes one input.
pub type Target = fn(&[u8]);

macro_rules! table {
    ($($name:ident),* $(,)?) => {
        /// Every target by the name of its file.
        pub const TARGETS: &[(&str, Target)] = &[$((stringify!($name), $name::run)),*];
    };
}

table![
    json_rpc_line,
    launch_config,
    launch_frontmatter,
    launch_markdown,
    model_stream,
    pack_keys,
    pack_manifest,
    pack_markers,
    pack_records,
    pack_source,
    pack_yaml_edit,
    pipeline_spec,
    policy,
    redact,
    settings,
    shell_line,
    stack_config,
    stack_sql,
    text_patch,
    token,
];
