//! Directories with files in them, and an input to go with them.

use std::path::Path;

use tempfile::TempDir;
use windlass_launch_scout::{ScoutInput, Scouted, scout};

pub(crate) fn input() -> ScoutInput {
    let config = serde_json::json!({
        "product_name": "Acme PDF",
        "product_slug": "acme-pdf",
        "family": "acme-pdf",
        "github_repo_url": "https://example.org/acme/acme-pdf.git",
        "github_ref": "a".repeat(40),
        "site_repo_url": "https://example.org/acme/site.git",
        "allowed_paths": ["content"],
        "locales": ["en"],
    });
    ScoutInput {
        config: serde_json::from_value(config).expect("the configuration is complete"),
        site_sha: "b".repeat(40),
        workflows_sha: None,
        default_branch: Some("main".to_owned()),
        latest_release_tag: None,
    }
}

pub(crate) fn write(root: &Path, path: &str, content: impl AsRef<[u8]>) {
    let target = root.join(path);
    fs_err::create_dir_all(target.parent().expect("a file has a folder")).expect("created");
    fs_err::write(target, content).expect("written");
}

pub(crate) fn folder(files: &[(&str, &str)]) -> TempDir {
    let root = TempDir::new().expect("a temporary folder");
    for (path, text) in files {
        write(root.path(), path, text);
    }
    root
}

pub(crate) fn look(files: &[(&str, &str)]) -> Scouted {
    let product = folder(files);
    let site = folder(&[
        ("content/docs/_index.md", "---\ntitle: Docs\n---\n"),
        ("hugo.toml", ""),
    ]);
    scout(product.path(), site.path(), &input()).expect("both folders are readable")
}

/// The artifacts as they are written.
pub(crate) fn artifacts(scouted: &Scouted) -> String {
    serde_json::to_string_pretty(&(
        &scouted.inventory,
        &scouted.frontmatter_contract,
        &scouted.site_context,
        &scouted.hugo_facts,
        &scouted.facts,
        &scouted.evidence,
        &scouted.snippets,
    ))
    .expect("artifacts are JSON")
}

pub(crate) const README: &str = "# Acme PDF

[![build](https://x.example/badge)](https://x.example)

Acme PDF is a library that reads and writes PDF files.

## Features

- Converts DOCX files to PDF
- Merges documents
- **Fast** text extraction

## Requirements

Acme PDF requires Python 3.8 or later.

## Quick start

Open a document with `acme_pdf.open()`. Save it with `Document.save()`.

```python
import acme_pdf
doc = acme_pdf.open(\"in.docx\")
doc.save(\"out.pdf\")
```

See `examples/gone.py` for more.

## Limitations

- Acme PDF does not read encrypted files.

## Contributing

Acme PDF welcomes patches.
";

pub(crate) const PYTHON: &[(&str, &str)] = &[
    (
        "pyproject.toml",
        "[project]\nname = \"acme-pdf\"\nversion = \"1.2.0\"\n\
         description = \"Reads and writes PDF files.\"\nlicense = \"MIT\"\n\
         requires-python = \">=3.10\"\ndependencies = [\"lxml\"]\n",
    ),
    ("README.md", README),
    (
        "src/acme_pdf/__init__.py",
        "\"\"\"Acme PDF.\"\"\"\nSUPPORTED_FORMATS = [\"pdf\", \"docx\"]\n\n\
         class Document:\n    \"\"\"A document with pages.\n\n    >>> doc = Document()\n    \
         >>> doc.add_page()\n    >>> doc.save(\"a.pdf\")\n    \"\"\"\n\n    \
         def save(self, path):\n        \"\"\"Saves the document to a path.\"\"\"\n\n\n\
         def open(path):\n    \"\"\"Opens a document.\"\"\"\n",
    ),
    (
        "tests/test_save.py",
        "from acme_pdf import Document\n\n\ndef test_save(tmp_path):\n    \
         doc = Document()\n    doc.save(tmp_path / \"a.pdf\")\n    assert True\n",
    ),
    (
        "examples/merge.py",
        "import acme_pdf\n\na = acme_pdf.open(\"a.pdf\")\nb = acme_pdf.open(\"b.pdf\")\n",
    ),
    ("LICENSE", "MIT License\n\nCopyright\n"),
];
