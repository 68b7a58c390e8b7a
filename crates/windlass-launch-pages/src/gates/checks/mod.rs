//! The gates, one file each, in the order of the report.

pub mod accessibility;
pub mod consistency;
pub mod content_distribution;
pub mod external_links;
pub mod frontmatter_contract;
pub mod hugo_build;
pub mod hugo_config;
pub mod internal_links;
pub mod markdown_lint;
pub mod page_weight;
pub mod rollback_metadata;
pub mod schema;
pub mod secrets;
pub mod snippet_syntax;
pub mod template_tokens;
pub mod truth_lock;
pub mod universality;
pub mod xss;

use crate::gates::run::Gate;

/// All gates, in the order of the report.
pub static GATES: [&dyn Gate; 18] = [
    &schema::Schema,
    &frontmatter_contract::FrontmatterContract,
    &markdown_lint::MarkdownLint,
    &template_tokens::TemplateTokens,
    &hugo_config::HugoConfig,
    &hugo_build::HugoBuild,
    &internal_links::InternalLinks,
    &external_links::ExternalLinks,
    &snippet_syntax::SnippetSyntax,
    &truth_lock::TruthLock,
    &consistency::Consistency,
    &universality::Universality,
    &content_distribution::ContentDistribution,
    &rollback_metadata::RollbackMetadata,
    &secrets::Secrets,
    &xss::Xss,
    &accessibility::Accessibility,
    &page_weight::PageWeight,
];
