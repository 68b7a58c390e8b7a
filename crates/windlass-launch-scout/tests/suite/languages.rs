//! A small product per language, from directory to artifacts.

use windlass_launch_scout::Scouted;

use super::support::{PYTHON, look};

fn or_none(words: Vec<String>) -> String {
    if words.is_empty() {
        "none".to_owned()
    } else {
        words.join(" ")
    }
}

/// What a page would be made of, in one text.
fn shown(scouted: &Scouted) -> String {
    let facts = &scouted.facts;
    let profile = &scouted.inventory.repo_profile;
    let mut claims: Vec<String> = facts
        .claims
        .iter()
        .map(|claim| {
            let evidence = &scouted.evidence.claims[&claim.claim_id];
            let at = &evidence.citations[0];
            format!(
                "{} {} {} | {}:{}-{}",
                evidence.source_priority,
                claim.claim_kind.as_str(),
                claim.claim_text,
                at.path,
                at.start_line,
                at.end_line
            )
        })
        .collect();
    claims.sort();
    let names = |list: &[windlass_launch_model::facts::ApiSymbol]| {
        or_none(list.iter().map(|symbol| symbol.name.clone()).collect())
    };
    let snippets: Vec<String> = scouted
        .snippets
        .snippets
        .iter()
        .map(|snippet| {
            format!(
                "{} {} {}:{}-{} {:?} {}",
                snippet.source.r#type,
                snippet.language,
                snippet.source.path,
                snippet.source.start_line,
                snippet.source.end_line,
                snippet.validation.syntax_ok,
                snippet.tags.join(",")
            )
        })
        .collect();
    let contradictions: Vec<String> = scouted
        .evidence
        .contradictions
        .iter()
        .map(|one| format!("{}: {}", one.resolution, one.reasoning))
        .collect();
    let install: Vec<&str> = facts
        .distribution
        .iter()
        .flat_map(|way| way.install_commands.iter().map(String::as_str))
        .collect();
    format!(
        "{} {} {}\n{}\nclasses {}\nfunctions {}\nmodules {}\nformats {}\nlicence {:?}\nneeds {}\ninstall {}\n{}\n{}",
        profile.platform_family,
        profile.repo_archetype,
        scouted.inventory.inferred_product_type,
        claims.join("\n"),
        names(&facts.api_surface_summary.classes),
        names(&facts.api_surface_summary.functions),
        names(&facts.api_surface_summary.modules),
        or_none(facts.supported_formats.clone()),
        facts.license,
        or_none(facts.runtime_requirements.clone()),
        if install.is_empty() {
            "none".to_owned()
        } else {
            install.join(", ")
        },
        snippets.join("\n"),
        contradictions.join("\n"),
    )
}

#[test]
fn python() {
    let scouted = look(PYTHON);
    insta::assert_snapshot!(shown(&scouted), @r#"
    python python_src_pyproject library
    1 feature Acme PDF depends on `lxml`. | pyproject.toml:7-7
    1 feature Acme PDF is at version `1.2.0`. | pyproject.toml:3-3
    1 feature Acme PDF is licensed under `MIT`. | pyproject.toml:5-5
    1 feature Acme PDF requires Python `>=3.10`. | pyproject.toml:6-6
    1 format Reads and writes PDF files. | pyproject.toml:4-4
    1 workflow Install Acme PDF with `pip install acme-pdf`. | pyproject.toml:2-2
    2 format Acme PDF supports the PDF and DOCX formats. | src/acme_pdf/__init__.py:2-2
    4 api `Document.save`: Saves the document to a path. | src/acme_pdf/__init__.py:12-13
    4 api `Document`: A document with pages. | src/acme_pdf/__init__.py:4-5
    4 api `open`: Opens a document. | src/acme_pdf/__init__.py:16-17
    6 limitation Acme PDF does not read encrypted files. | README.md:31-31
    6 workflow Open a document with `acme_pdf.open()`. | README.md:19-19
    6 workflow Save it with `Document.save()`. | README.md:19-19
    7 feature Fast text extraction. | README.md:11-11
    7 feature Merges documents. | README.md:10-10
    7 format Acme PDF is a library that reads and writes PDF files. | README.md:5-5
    7 format Converts DOCX files to PDF. | README.md:9-9
    classes Document
    functions Document.save open
    modules acme_pdf
    formats DOCX PDF
    licence Some("MIT")
    needs Python >=3.10
    install pip install acme-pdf
    example python examples/merge.py:1-4 Some(true) example,pdf,python
    readme python README.md:22-24 Some(true) docx,example,pdf,python,quick-start,quickstart
    test python tests/test_save.py:4-7 Some(true) pdf,python,write
    docstring python src/acme_pdf/__init__.py:7-9 Some(true) example,pdf,python
    prefer: they need different versions of python: 3.10 and 3.8; priority 1 goes before 6
    "#);
    let phantom = &scouted.inventory.phantom_paths;
    assert_eq!(phantom.len(), 1);
    assert_eq!(phantom[0].claimed_path, "examples/gone.py");
    let positioning = scouted.facts.positioning_claim_id.expect("a description");
    assert!(scouted.evidence.claims.contains_key(&positioning));
}

#[test]
fn node() {
    insta::assert_snapshot!(shown(&look(&[
        ("package.json", "{\n  \"name\": \"acme-pdf\",\n  \"description\": \"Writes PDF files in Node\",\n  \"license\": \"MIT\",\n  \"main\": \"src/index.ts\",\n  \"engines\": {\"node\": \">=18\"}\n}\n"),
        ("tsconfig.json", "{}"),
        ("src/index.ts", "/** Opens a document. */\nexport function open(path: string) {}\n"),
        ("test/a.test.ts", "test('opens', () => {\n  open('a');\n  open('b');\n});\n"),
    ])), @r#"
    node node_src_package_json library
    1 feature Acme PDF is licensed under `MIT`. | package.json:4-4
    1 feature Acme PDF requires Node.js `>=18`. | package.json:6-6
    1 format Writes PDF files in Node. | package.json:3-3
    1 workflow Install Acme PDF with `npm install acme-pdf`. | package.json:2-2
    4 api `open`: Opens a document. | src/index.ts:1-2
    classes none
    functions open
    modules src/index
    formats PDF
    licence Some("MIT")
    needs Node.js >=18
    install npm install acme-pdf
    test typescript test/a.test.ts:1-4 Some(true) typescript
    "#);
}

#[test]
fn rust() {
    insta::assert_snapshot!(shown(&look(&[
        ("Cargo.toml", "[package]\nname = \"acme-pdf\"\ndescription = \"Reads PDF files\"\nlicense = \"MIT\"\n"),
        ("src/lib.rs", "/// Opens a document.\n///\n/// ```\n/// # use acme_pdf::open;\n/// let doc = open(\"a.pdf\");\n/// let text = doc.text();\n/// assert!(text.is_empty());\n/// ```\npub fn open(path: &str) {}\n"),
    ])), @r#"
    rust rust_src_cargo library
    1 feature Acme PDF is licensed under `MIT`. | Cargo.toml:4-4
    1 format Reads PDF files. | Cargo.toml:3-3
    1 workflow Install Acme PDF with `cargo add acme-pdf`. | Cargo.toml:2-2
    4 api `open`: Opens a document. | src/lib.rs:1-9
    classes none
    functions open
    modules none
    formats PDF
    licence Some("MIT")
    needs none
    install cargo add acme-pdf
    docstring rust src/lib.rs:5-7 Some(true) example,pdf,read,rust
    "#);
}

#[test]
fn go() {
    insta::assert_snapshot!(shown(&look(&[
        ("go.mod", "module example.org/acme/pdf\n\ngo 1.22\n"),
        ("pdf.go", "package pdf\n\n// Open opens a document.\nfunc Open(path string) {}\n"),
        ("pdf_test.go", "package pdf\n\nfunc TestOpen(t *testing.T) {\n\tOpen(\"a\")\n\tOpen(\"b\")\n}\n"),
        ("LICENSE", "Apache License\nVersion 2.0, January 2004\n"),
    ])), @r#"
    go go_flat_go_mod library
    1 feature Acme PDF is licensed under `Apache-2.0`. | LICENSE:1-2
    1 feature Acme PDF requires Go `1.22`. | go.mod:3-3
    4 api `Open`: Open opens a document. | pdf.go:3-4
    classes none
    functions Open
    modules pdf
    formats none
    licence Some("Apache-2.0")
    needs Go 1.22
    install none
    test go pdf_test.go:3-6 Some(true) go
    "#);
}

#[test]
fn java() {
    insta::assert_snapshot!(shown(&look(&[
        ("pom.xml", "<project>\n<groupId>org.acme</groupId>\n<artifactId>acme-pdf</artifactId>\n<version>1.0</version>\n<description>Reads PDF files on the JVM</description>\n</project>\n"),
        ("src/main/java/org/acme/Doc.java", "package org.acme;\n\n/** A document with pages. */\npublic class Doc {\n    /** Saves the document. */\n    public void save() {}\n}\n"),
    ])), @"
    java java_src_maven library
    1 feature Acme PDF is at version `1.0`. | pom.xml:4-4
    1 format Reads PDF files on the JVM. | pom.xml:5-5
    4 api `Doc.save`: Saves the document. | src/main/java/org/acme/Doc.java:5-6
    4 api `Doc`: A document with pages. | src/main/java/org/acme/Doc.java:3-4
    classes Doc
    functions Doc.save
    modules org.acme
    formats PDF
    licence None
    needs none
    install none
    ");
}

#[test]
fn csharp() {
    insta::assert_snapshot!(shown(&look(&[
        ("src/Acme.Pdf/Acme.Pdf.csproj", "<Project Sdk=\"Microsoft.NET.Sdk\">\n<PropertyGroup>\n<PackageId>Acme.Pdf</PackageId>\n<TargetFramework>net8.0</TargetFramework>\n<Description>Reads PDF files on .NET</Description>\n</PropertyGroup>\n</Project>\n"),
        ("src/Acme.Pdf/Doc.cs", "namespace Acme.Pdf;\n\n/// <summary>A document with pages.</summary>\npublic class Doc\n{\n    /// <summary>Saves the document.</summary>\n    public void Save() {}\n}\n"),
    ])), @"
    dotnet dotnet_src_msbuild library
    1 feature Acme PDF requires .NET `net8.0`. | src/Acme.Pdf/Acme.Pdf.csproj:4-4
    1 format Reads PDF files on .NET. | src/Acme.Pdf/Acme.Pdf.csproj:5-5
    1 workflow Install Acme PDF with `dotnet add package Acme.Pdf`. | src/Acme.Pdf/Acme.Pdf.csproj:3-3
    4 api `Doc.Save`: Saves the document. | src/Acme.Pdf/Doc.cs:6-7
    4 api `Doc`: A document with pages. | src/Acme.Pdf/Doc.cs:3-4
    classes Doc
    functions Doc.Save
    modules Acme.Pdf
    formats PDF
    licence None
    needs .NET net8.0
    install dotnet add package Acme.Pdf
    ");
}
