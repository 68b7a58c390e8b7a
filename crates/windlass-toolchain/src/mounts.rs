//! Which folders a site's configuration brings in, by what `hugo config mounts` prints.
//!
//! Hugo lets a site mount any folder of the machine. Such a site is refused with the folder's
//! name, also where no fence would keep Hugo out.

use std::path::{Component, Path, PathBuf};

use serde::Deserialize;

/// The part of a module's description that is read.
#[derive(Deserialize)]
struct Module {
    #[serde(default)]
    path: String,
    #[serde(default)]
    dir: PathBuf,
    #[serde(default)]
    mounts: Vec<Mount>,
}

#[derive(Deserialize)]
struct Mount {
    source: PathBuf,
}

/// Says which mounts lie outside the site, one line each; the failure says what is not
/// understood.
pub fn outside(printed: &str, site: &Path) -> Result<Vec<String>, String> {
    // A launcher may print something first.
    let start = printed.find('{').ok_or("it names no modules")?;
    let modules = serde_json::Deserializer::from_str(&printed[start..]).into_iter::<Module>();
    let mut found = Vec::new();
    for module in modules {
        let module = module.map_err(|error| error.to_string())?;
        let folder = flat(&site.join(&module.dir));
        if !folder.starts_with(site) {
            found.push(format!(
                "the module {:?} lies outside the site, in {}",
                module.path,
                folder.display()
            ));
            continue;
        }
        for mount in &module.mounts {
            if !flat(&folder.join(&mount.source)).starts_with(site) {
                found.push(format!(
                    "the module {:?} mounts {}, which lies outside the site",
                    module.path,
                    mount.source.display()
                ));
            }
        }
    }
    Ok(found)
}

/// The path without `.` and `..`.
fn flat(path: &Path) -> PathBuf {
    let mut flat = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                flat.pop();
            }
            other => flat.push(other),
        }
    }
    flat
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leaves_the_site() {
        let module = |dir: &str, source: &str| {
            format!(
                r#"{{"path": "p", "version": "", "dir": "{dir}", "mounts": [{{"source": "content", "target": "content"}}, {{"source": "{source}", "target": "assets"}}]}}"#
            )
        };
        let outside = |printed: &str| outside(printed, Path::new("/copy/site"));
        for (printed, expected) in [
            (module("/copy/site", "assets"), None),
            (module("/copy/site", "a/../../site/b"), None),
            (module("/copy/site", "/copy/site/x"), None),
            (module("/copy/site/themes/t", "../../shared"), None),
            (
                module("/copy/site", "/etc"),
                Some(r#"the module "p" mounts /etc, which lies outside the site"#),
            ),
            (
                module("/copy/site", "a/../../secret"),
                Some(r#"the module "p" mounts a/../../secret, which lies outside the site"#),
            ),
            (
                module("/copy/site", "/copy/site-2"),
                Some(r#"the module "p" mounts /copy/site-2, which lies outside the site"#),
            ),
            (
                module("/etc", "x"),
                Some(r#"the module "p" lies outside the site, in /etc"#),
            ),
        ] {
            let expected: Vec<&str> = expected.into_iter().collect();
            assert_eq!(outside(&printed).unwrap(), expected, "{printed}");
            // Modules follow one another, and a launcher's line may come first.
            let more = format!("Running Hugo\n{}\n{printed}", module("/copy/site", "a"));
            assert_eq!(outside(&more).unwrap(), expected, "{more}");
        }
        assert!(outside("").is_err());
        assert!(outside("{\"dir\": 1}").is_err());
    }
}
