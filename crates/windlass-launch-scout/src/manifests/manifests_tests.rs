//! One sample of every manifest, and what is read from it.

use super::*;

/// What matters of a manifest, in one text.
fn shown(path: &str, text: &str) -> String {
    let Some(Ok(manifest)) = read(path, text) else {
        return "unreadable".to_owned();
    };
    let located = |value: &Option<Located>| {
        value.as_ref().map_or("-".to_owned(), |found| {
            format!("{} @{}-{}", found.text, found.start, found.end)
        })
    };
    let needs: Vec<String> = manifest
        .runtimes
        .iter()
        .map(|need| format!("{} {} @{}", need.runtime, need.spec.text, need.spec.start))
        .collect();
    format!(
        "{} by {}\nname {}\nversion {}\ndescription {}\nlicence {}\nneeds {}\nuses {}\ninstall {}",
        manifest.platform,
        manifest.build_system,
        located(&manifest.name),
        located(&manifest.version),
        located(&manifest.description),
        located(&manifest.license),
        needs.join(", "),
        manifest.dependencies.join(" "),
        manifest.install.as_deref().unwrap_or("-"),
    )
}

#[test]
fn pyproject() {
    insta::assert_snapshot!(shown("pyproject.toml", r#"[build-system]
build-backend = "hatchling.build"

[project]
name = "acme-pdf"
version = "1.2.0"
description = "Reads and writes PDF files."
license = "MIT"
requires-python = ">=3.10"
dependencies = ["lxml>=5", "pillow[extra]"]
"#), @"
    python by hatchling
    name acme-pdf @5-5
    version 1.2.0 @6-6
    description Reads and writes PDF files. @7-7
    licence MIT @8-8
    needs Python >=3.10 @9
    uses lxml pillow
    install pip install acme-pdf
    ");
}

#[test]
fn poetry() {
    insta::assert_snapshot!(shown("pyproject.toml", r#"[tool.poetry]
name = "acme-pdf"
version = "1.2.0"
description = """Reads and
writes PDF files."""
[tool.poetry.dependencies]
python = "^3.9"
lxml = "*"
"#), @"
    python by poetry
    name acme-pdf @2-2
    version 1.2.0 @3-3
    description Reads and writes PDF files. @4-5
    licence -
    needs Python ^3.9 @7
    uses lxml
    install pip install acme-pdf
    ");
}

#[test]
fn setup_py_is_read_and_not_run() {
    insta::assert_snapshot!(shown("setup.py", r#"import os
os.system("touch ran")
setup(
    name="acme-pdf",
    version=open("VERSION").read(),
    description='Reads PDF files',
    python_requires=">=3.8",
    install_requires=["lxml>=5", 'six'],
)
"#), @"
    python by setuptools
    name acme-pdf @4-4
    version -
    description Reads PDF files @6-6
    licence -
    needs Python >=3.8 @7
    uses lxml six
    install pip install acme-pdf
    ");
}

#[test]
fn setup_cfg() {
    insta::assert_snapshot!(shown("setup.cfg", "[metadata]\nname = acme-pdf\nversion = attr: acme.__version__\ndescription = Reads PDF files\n[options]\npython_requires = >=3.8\ninstall_requires =\n    lxml>=5\n    six\n"), @"
    python by setuptools
    name acme-pdf @2-2
    version -
    description Reads PDF files @4-4
    licence -
    needs Python >=3.8 @6
    uses lxml six
    install pip install acme-pdf
    ");
}

#[test]
fn conda() {
    insta::assert_snapshot!(shown("environment.yml", "name: acme\ndependencies:\n  - python>=3.9\n  - numpy\n  - pip:\n    - lxml\n"), @"
    python by conda
    name -
    version -
    description -
    licence -
    needs Python >=3.9 @3
    uses numpy
    install -
    ");
}

#[test]
fn package_json() {
    insta::assert_snapshot!(shown("package.json", r#"{
  "name": "@acme/pdf",
  "version": "2.0.0",
  "description": "PDF for Node",
  "license": "Apache-2.0",
  "engines": { "node": ">=18" },
  "dependencies": { "zlib-sync": "1" }
}"#), @"
    node by npm
    name @acme/pdf @2-2
    version 2.0.0 @3-3
    description PDF for Node @4-4
    licence Apache-2.0 @5-5
    needs Node.js >=18 @6
    uses zlib-sync
    install npm install @acme/pdf
    ");
}

#[test]
fn cargo_toml() {
    insta::assert_snapshot!(shown("Cargo.toml", r#"[package]
name = "acme-pdf"
version = "0.3.0"
description = "PDF for Rust"
license = "MIT OR Apache-2.0"
rust-version = "1.80"
[dependencies]
flate2 = "1"
"#), @"
    rust by cargo
    name acme-pdf @2-2
    version 0.3.0 @3-3
    description PDF for Rust @4-4
    licence MIT OR Apache-2.0 @5-5
    needs Rust 1.80 @6
    uses flate2
    install cargo add acme-pdf
    ");
}

#[test]
fn go_mod() {
    insta::assert_snapshot!(shown("go.mod", "module github.com/acme/pdf\n\ngo 1.22\n\nrequire (\n\tgolang.org/x/image v0.1.0 // indirect\n)\nrequire example.org/one v1.0.0\n"), @"
    go by go
    name github.com/acme/pdf @1-1
    version -
    description -
    licence -
    needs Go 1.22 @3
    uses golang.org/x/image example.org/one
    install go get github.com/acme/pdf
    ");
}

#[test]
fn pom() {
    insta::assert_snapshot!(shown("pom.xml", r#"<project xmlns="http://maven.apache.org/POM/4.0.0">
  <groupId>org.acme</groupId>
  <artifactId>acme-pdf</artifactId>
  <version>1.0.1</version>
  <description>
    Reads PDF files
    on the JVM
  </description>
  <licenses><license><name>MIT</name></license></licenses>
  <properties><maven.compiler.release>17</maven.compiler.release></properties>
  <dependencies>
    <dependency><groupId>org.x</groupId><artifactId>y</artifactId></dependency>
    <dependency><groupId>junit</groupId><artifactId>junit</artifactId><scope>test</scope></dependency>
  </dependencies>
</project>"#), @"
    java by maven
    name org.acme:acme-pdf @2-4
    version 1.0.1 @4-4
    description Reads PDF files on the JVM @6-7
    licence MIT @9-9
    needs Java 17 @10
    uses org.x:y
    install mvn dependency:get -Dartifact=org.acme:acme-pdf:1.0.1
    ");
}

#[test]
fn gradle() {
    insta::assert_snapshot!(shown("build.gradle.kts", "version = \"1.1\"\ndescription = \"PDF for the JVM\"\njava { toolchain { languageVersion = JavaLanguageVersion.of(17) } }\ndependencies {\n    implementation(\"org.x:y:1.0\")\n    testImplementation(\"junit:junit:4\")\n}\n"), @"
    java by gradle
    name -
    version 1.1 @1-1
    description PDF for the JVM @2-2
    licence -
    needs Java 17 @3
    uses org.x:y
    install -
    ");
}

#[test]
fn csproj() {
    insta::assert_snapshot!(shown("src/Acme.Pdf/Acme.Pdf.csproj", r#"<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <TargetFramework>net8.0</TargetFramework>
    <PackageId>Acme.Pdf</PackageId>
    <Version>3.1.0</Version>
    <Description>PDF for .NET</Description>
    <PackageLicenseExpression>MIT</PackageLicenseExpression>
  </PropertyGroup>
  <ItemGroup><PackageReference Include="SkiaSharp" Version="2.0" /></ItemGroup>
</Project>"#), @"
    dotnet by msbuild
    name Acme.Pdf @4-4
    version 3.1.0 @5-5
    description PDF for .NET @6-6
    licence MIT @7-7
    needs .NET net8.0 @3
    uses SkiaSharp
    install dotnet add package Acme.Pdf
    ");
}

#[test]
fn the_others() {
    for (path, text, name, install) in [
        (
            "composer.json",
            r#"{"name":"acme/pdf","require":{"php":">=8.1","ext-zip":"*","x/y":"1"}}"#,
            "acme/pdf",
            Some("composer require acme/pdf"),
        ),
        (
            "acme.gemspec",
            "Gem::Specification.new do |s|\n  s.name = 'acme_pdf'\n  s.summary = 'PDF'\nend",
            "acme_pdf",
            Some("gem install acme_pdf"),
        ),
        (
            "CMakeLists.txt",
            "project(AcmePdf VERSION 1.2 DESCRIPTION \"PDF\" LANGUAGES CXX)",
            "AcmePdf",
            None,
        ),
        (
            "vcpkg.json",
            r#"{"name":"acme-pdf","dependencies":["zlib",{"name":"png"}]}"#,
            "acme-pdf",
            Some("vcpkg install acme-pdf"),
        ),
        (
            "Package.swift",
            "// swift-tools-version:5.9\nlet package = Package(name: \"AcmePdf\")",
            "AcmePdf",
            None,
        ),
    ] {
        let manifest = read(path, text).unwrap().unwrap();
        assert_eq!(manifest.name.unwrap().text, name, "{path}");
        assert_eq!(manifest.install.as_deref(), install, "{path}");
    }
}

#[test]
fn a_broken_manifest_is_distinguished_from_no_manifest() {
    assert_eq!(read("package.json", "{"), Some(Err(())));
    assert_eq!(read("Cargo.toml", "= ="), Some(Err(())));
    assert_eq!(read("pom.xml", "<project>"), Some(Err(())));
    let billion = "<!DOCTYPE p [<!ENTITY a \"aa\">]><project>&a;</project>";
    assert_eq!(read("pom.xml", billion), Some(Err(())));
    assert_eq!(read("other.json", "{"), None);
}

#[test]
fn an_unsafe_name_is_not_used_in_a_command() {
    for name in ["x; rm -rf /", "-e .", "a b", "$(x)", "a`b`"] {
        let text = format!("{{\"name\": {}}}", serde_json::json!(name));
        let manifest = read("package.json", &text).unwrap().unwrap();
        assert_eq!(manifest.install, None, "{name}");
    }
}

#[test]
fn a_value_is_located_by_key_then_by_itself_then_over_lines() {
    let text = "other = \"acme\"\nname = \"acme\"\nlong = a\n  b\n  c\n";
    let at =
        |key: &str, value: &str| locate(text, key, value).map(|found| (found.start, found.end));
    assert_eq!(at("name", "acme"), Some((2, 2)));
    assert_eq!(at("missing", "acme"), Some((1, 1)));
    assert_eq!(at("long", "a b c"), Some((3, 5)));
    assert_eq!(at("name", "nowhere"), None);
    assert_eq!(at("name", "  "), None);
}

fn tree_of(files: &[(&str, &str)]) -> Tree {
    let mut tree = Tree::default();
    for (path, text) in files {
        let file = crate::tree::File {
            size: 0,
            digest: windlass_types::Digest::ZERO,
            binary: false,
            text: Some((*text).into()),
        };
        tree.files.insert((*path).to_owned(), file);
    }
    tree
}

#[test]
fn what_is_in_no_public_registry_is_not_installed_from_one() {
    let workspace = "[workspace]\n[workspace.package]\npublish = false\n";
    let inherits = "[package]\nname = \"a\"\npublish.workspace = true\n";
    for (files, installs) in [
        (vec![("Cargo.toml", "[package]\nname = \"a\"\n")], true),
        (
            vec![("Cargo.toml", "[package]\nname = \"a\"\npublish = false\n")],
            false,
        ),
        (
            vec![(
                "Cargo.toml",
                "[package]\nname = \"a\"\npublish = [\"own\"]\n",
            )],
            false,
        ),
        (
            vec![(
                "Cargo.toml",
                "[package]\nname = \"a\"\npublish = [\"crates-io\"]\n",
            )],
            true,
        ),
        (
            vec![("Cargo.toml", workspace), ("crates/a/Cargo.toml", inherits)],
            false,
        ),
        (
            vec![
                ("Cargo.toml", "[workspace]\n"),
                ("crates/a/Cargo.toml", inherits),
            ],
            true,
        ),
        (vec![("package.json", r#"{"name": "a"}"#)], true),
        (
            vec![("package.json", r#"{"name": "a", "private": true}"#)],
            false,
        ),
        (
            vec![(
                "package.json",
                r#"{"name": "a", "publishConfig": {"registry": "https://npm.own.example/"}}"#,
            )],
            false,
        ),
        (vec![("pyproject.toml", "[project]\nname = \"a\"\n")], true),
        (
            vec![(
                "pyproject.toml",
                "[project]\nname = \"a\"\nclassifiers = [\"Private :: Do Not Upload\"]\n",
            )],
            false,
        ),
        (
            vec![(
                "A.csproj",
                "<Project><PropertyGroup><PackageId>A</PackageId><IsPackable>false</IsPackable></PropertyGroup></Project>",
            )],
            false,
        ),
    ] {
        let (found, broken) = all(&tree_of(&files));
        assert!(broken.is_empty(), "{files:?}");
        let command = found.iter().find_map(|manifest| manifest.install.clone());
        assert_eq!(command.is_some(), installs, "{files:?}");
    }
}

#[test]
fn the_products_own_packages_describe_it() {
    let package = |name: &str| format!("[package]\nname = \"{name}\"\nversion = \"1.0.0\"\n");
    let (own, helper, fuzz) = (
        package("acme-pdf"),
        package("acme-types"),
        package("acme-fuzz"),
    );
    let workspace = "[workspace]\n[workspace.package]\nversion = \"2.0.0\"\nlicense = \"MIT\"\n";
    for (files, expected) in [
        (vec![("Cargo.toml", own.as_str())], vec!["Cargo.toml"]),
        (
            vec![
                ("Cargo.toml", own.as_str()),
                ("helper/Cargo.toml", helper.as_str()),
            ],
            vec!["Cargo.toml"],
        ),
        (
            vec![
                ("Cargo.toml", workspace),
                ("fuzz/Cargo.toml", fuzz.as_str()),
                ("crates/pdf/Cargo.toml", own.as_str()),
                ("crates/types/Cargo.toml", helper.as_str()),
                ("crates/pdf/tests/other/Cargo.toml", own.as_str()),
            ],
            vec!["Cargo.toml", "crates/pdf/Cargo.toml"],
        ),
        // Nothing has the product's name: the outermost count.
        (
            vec![
                ("a/Cargo.toml", helper.as_str()),
                ("b/Cargo.toml", fuzz.as_str()),
            ],
            vec!["a/Cargo.toml", "b/Cargo.toml"],
        ),
    ] {
        let (found, _) = all(&tree_of(&files));
        let speaking: Vec<&str> = speaking(&found, &crate::test_input())
            .iter()
            .map(|manifest| manifest.path.as_str())
            .collect();
        assert_eq!(speaking, expected, "{files:?}");
    }
    let (found, _) = all(&tree_of(&[("Cargo.toml", workspace)]));
    assert_eq!(found[0].version.as_ref().unwrap().text, "2.0.0");
    assert_eq!(found[0].license.as_ref().unwrap().text, "MIT");
}
