//! The product, the site and the configuration of `examples/launch`.

use crate::sample::{Sample, samples};

/// `run_config.yaml`, whose repositories and commits are placeholders.
pub(crate) const CONFIG: &str = include_str!("../../../examples/launch/run_config.yaml");

pub(crate) const PRODUCT: &[Sample] = samples! { "launch/product":
    ".gitignore";
    "CHANGELOG.md";
    "LICENSE";
    "README.md";
    "docs/formats.md";
    "docs/index.md";
    "docs/limits.md";
    "docs/usage.md";
    "examples/calendar_export.py";
    "examples/find_extremes.py";
    "examples/gauge.csv";
    "pyproject.toml";
    "src/tidemark/__init__.py";
    "src/tidemark/__main__.py";
    "src/tidemark/cli.py";
    "src/tidemark/errors.py";
    "src/tidemark/export.py";
    "src/tidemark/extremes.py";
    "src/tidemark/gauge.py";
    "tests/test_cli.py";
    "tests/test_export.py";
    "tests/test_extremes.py";
    "tests/test_gauge.py";
};

pub(crate) const SITE: &[Sample] = samples! { "launch/site":
    ".gitignore";
    "archetypes/products.md";
    "content/_index.md";
    "content/blog/_index.md";
    "content/blog/from-readings-to-tables.md";
    "content/blog/measuring-the-tide.md";
    "content/docs/_index.md";
    "content/docs/fathom/_index.md";
    "content/docs/fathom/installation.md";
    "content/docs/tidemark/getting-started.md";
    "content/kb/_index.md";
    "content/kb/tide-glossary.md";
    "content/products/_index.md";
    "content/products/beacon/_index.md";
    "content/products/fathom/_index.md";
    "content/reference/_index.md";
    "content/reference/fathom/_index.md";
    "hugo.toml";
    "layouts/_default/baseof.html";
    "layouts/_default/list.html";
    "layouts/_default/single.html";
    "layouts/partials/header.html";
    "static/site.css";
};
