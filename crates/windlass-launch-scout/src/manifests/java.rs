//! Java and Kotlin: Maven's `pom.xml`, Gradle's `build.gradle` and `build.gradle.kts`.

use regex::Regex;
use roxmltree::{Document, Node};

use super::{Located, Manifest, Requirement, is_plain, literal, locate};

/// The text of a child element.
fn child<'n>(node: Node<'n, '_>, name: &str) -> Option<&'n str> {
    node.children()
        .find(|child| child.tag_name().name() == name)?
        .text()
        .map(str::trim)
        .filter(|text| !text.is_empty() && !text.contains("${"))
}

fn element<'a, 'i>(node: Node<'a, 'i>, name: &str) -> Option<Node<'a, 'i>> {
    node.children()
        .find(|child| child.tag_name().name() == name)
}

/// `group:artifact`, and the lines that hold both, and the version where there is one. A parent
/// far away from the artifact is no place to cite.
fn coordinates(
    text: &str,
    group: &str,
    artifact: &Located,
    version: Option<&str>,
) -> Option<Located> {
    const MOST_LINES: u64 = 40;
    let mut start = artifact.start;
    let mut end = artifact.end;
    let group_at = locate(text, "groupId", group)?;
    let version_at = version.and_then(|version| locate(text, "version", version));
    for part in [Some(group_at), version_at].into_iter().flatten() {
        start = start.min(part.start);
        end = end.max(part.end);
    }
    (end - start < MOST_LINES).then(|| Located {
        text: format!("{group}:{}", artifact.text),
        start,
        end,
    })
}

pub(super) fn pom(path: &str, text: &str) -> Option<Manifest> {
    let document = Document::parse(text).ok()?;
    let project = document.root_element();
    if project.tag_name().name() != "project" {
        return None;
    }
    let found = |key: &str| locate(text, key, child(project, key)?);
    let parent = element(project, "parent");
    let group = child(project, "groupId").or_else(|| child(parent?, "groupId"));
    let artifact = found("artifactId");
    let version = child(project, "version").or_else(|| child(parent?, "version"));
    let name = group
        .zip(artifact)
        .and_then(|(group, artifact)| coordinates(text, group, &artifact, version));
    let install = name
        .as_ref()
        .zip(version)
        .map(|(name, version)| format!("{}:{version}", name.text))
        .filter(|coordinates| is_plain(coordinates))
        .map(|coordinates| format!("mvn dependency:get -Dartifact={coordinates}"));
    let java = element(project, "properties").and_then(|properties| {
        [
            "maven.compiler.release",
            "maven.compiler.target",
            "java.version",
        ]
        .into_iter()
        .find_map(|key| locate(text, key, child(properties, key)?))
    });
    let dependencies = element(project, "dependencies")
        .into_iter()
        .flat_map(|list| list.children())
        .filter(|item| child(*item, "scope") != Some("test"))
        .filter_map(|item| {
            Some(format!(
                "{}:{}",
                child(item, "groupId")?,
                child(item, "artifactId")?
            ))
        })
        .collect();
    let license = element(project, "licenses")
        .and_then(|list| element(list, "license"))
        .and_then(|license| locate(text, "name", child(license, "name")?));
    Some(Manifest {
        path: path.to_owned(),
        platform: "java",
        build_system: "maven".to_owned(),
        method: "maven",
        version: version.and_then(|version| locate(text, "version", version)),
        description: found("description"),
        license,
        dependencies,
        runtimes: java
            .map(|spec| Requirement {
                runtime: "Java",
                spec,
            })
            .into_iter()
            .collect(),
        install,
        has_library: true,
        is_workspace: element(project, "modules").is_some(),
        test_command: Some("mvn test".to_owned()),
        name,
        ..Manifest::default()
    })
}

pub(super) fn gradle(path: &str, text: &str) -> Option<Manifest> {
    let found = |key: &str| locate(text, key, &literal::quoted(text, key)?);
    let dependency = Regex::new(
        r#"(?m)^\s*(?:api|implementation)\s*\(?\s*["']([\w.-]+:[\w.-]+)(?::[^"']*)?["']"#,
    )
    .ok()?;
    let release = Regex::new(r"(?:languageVersion[^\n]*of\(|JavaVersion\.VERSION_|sourceCompatibility\s*=\s*['\x22]?)(\d+)").ok()?;
    let java = release.captures(text).and_then(|found| {
        locate(text, "ersion", &found[1]).or_else(|| locate(text, "", &found[1]))
    });
    Some(Manifest {
        path: path.to_owned(),
        platform: "java",
        build_system: "gradle".to_owned(),
        method: "maven",
        version: found("version"),
        description: found("description"),
        dependencies: dependency
            .captures_iter(text)
            .map(|found| found[1].to_owned())
            .collect(),
        runtimes: java
            .map(|spec| Requirement {
                runtime: "Java",
                spec,
            })
            .into_iter()
            .collect(),
        has_library: true,
        test_command: Some("gradle test".to_owned()),
        ..Manifest::default()
    })
}
