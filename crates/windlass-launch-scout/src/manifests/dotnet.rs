//! .NET: `*.csproj`, `*.fsproj`, `*.vbproj`.

use roxmltree::Document;

use super::{Manifest, Requirement, is_plain, locate};
use crate::kind::stem;

pub(super) fn project(path: &str, text: &str) -> Option<Manifest> {
    let document = Document::parse(text).ok()?;
    let root = document.root_element();
    if root.tag_name().name() != "Project" {
        return None;
    }
    let value = |key: &str| {
        root.descendants()
            .find(|node| node.tag_name().name() == key)
            .and_then(|node| node.text())
            .map(str::trim)
            .filter(|text| !text.is_empty() && !text.contains("$("))
    };
    let found = |key: &str| locate(text, key, value(key)?);
    let name = found("PackageId").or_else(|| found("AssemblyName"));
    // A project without an id is packed under its file's name; no line says so, so no fact
    // is made of it beyond what the folder layout shows.
    let has_program = value("OutputType").is_some_and(|kind| kind.eq_ignore_ascii_case("exe"));
    let is_test = stem(path).ends_with("test")
        || stem(path).ends_with("tests")
        || value("IsTestProject") == Some("true");
    let is_private = is_test || value("IsPackable") == Some("false");
    let install = name
        .as_ref()
        .filter(|name| is_plain(&name.text) && !is_private)
        .map(|name| format!("dotnet add package {}", name.text));
    let framework = found("TargetFramework").or_else(|| found("TargetFrameworks"));
    let dependencies = root
        .descendants()
        .filter(|node| node.tag_name().name() == "PackageReference")
        .filter_map(|node| node.attribute("Include").map(str::to_owned))
        .collect();
    Some(Manifest {
        path: path.to_owned(),
        platform: "dotnet",
        build_system: "msbuild".to_owned(),
        method: "nuget",
        version: found("Version").or_else(|| found("VersionPrefix")),
        description: found("Description"),
        license: found("PackageLicenseExpression"),
        dependencies,
        runtimes: framework
            .map(|spec| Requirement {
                runtime: ".NET",
                spec,
            })
            .into_iter()
            .collect(),
        install,
        is_private,
        has_program,
        has_library: !has_program && !is_test,
        test_command: Some("dotnet test".to_owned()),
        name,
        ..Manifest::default()
    })
}
