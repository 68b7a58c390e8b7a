//! Directives: `$Stage()`, `$File('x.env').KEY`, `$Secret('name')` and the others.
//!
//! Those that can be answered before a deploy are replaced by their value; the others become
//! [`Runtime`](crate::Runtime) values.

mod context;
mod files;
mod git;
mod resolve;
mod runtime;
pub mod syntax;

pub use context::{Allowed, Context, CustomCall, Lookups, NoLookups};
pub use files::env_values;
pub use git::GitInfo;
pub(crate) use resolve::Resolver;

/// The directives Windlass knows, with their arguments.
pub const BUILT_IN: &[(&str, &str)] = &[
    ("AwsAccountId", ""),
    ("CfFormat", "template, values…"),
    ("CfResourceParam", "logicalId, attribute"),
    ("CfStackOutput", "stack, output"),
    ("CliArgs", "name, default"),
    ("File", "path"),
    ("FileRaw", "path"),
    ("Format", "template, values…"),
    ("GitInfo", "property"),
    ("Profile", ""),
    ("Region", ""),
    ("ResourceParam", "resource, parameter"),
    ("Secret", "name"),
    ("SsmParam", "name"),
    ("StackOutput", "stack, output, region"),
    ("Stage", ""),
    ("This", ""),
    ("Var", ""),
];
