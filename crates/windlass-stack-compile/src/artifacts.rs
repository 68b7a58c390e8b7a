//! What must be packaged before a template can be made, and where it ends in the template.

use serde_json::{Value, json};
use windlass_stack_config::Config;
use windlass_stack_config::model::ResourceKind;
use windlass_stack_config::model::packaging::{FunctionPackaging, ImagePackaging};

use crate::facts::Artifact;
use crate::stack::Stack;

/// Something that must be packaged.
#[derive(Clone, Debug, PartialEq)]
pub struct Need<'a> {
    /// The name it has in [`Facts::artifacts`](crate::Facts::artifacts): the resource's, with
    /// `.container` behind it where there are several containers.
    pub name: String,
    /// The resource.
    pub resource: &'a str,
    /// How it is packaged.
    pub kind: NeedKind<'a>,
}

/// How something is packaged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NeedKind<'a> {
    /// As a function's zip.
    Zip(&'a FunctionPackaging),
    /// As an image. Never one that exists already.
    Image(&'a ImagePackaging),
}

/// Everything that must be packaged, in the order of the config's resources.
pub fn needed_artifacts(config: &Config) -> Vec<Need<'_>> {
    let mut needs = Vec::new();
    for (resource, it) in &config.resources {
        let mut zip = |packaging| {
            needs.push(Need {
                name: resource.clone(),
                resource,
                kind: NeedKind::Zip(packaging),
            });
        };
        match &it.kind {
            ResourceKind::Function(function) => zip(&function.packaging),
            ResourceKind::DeploymentScript(script) => zip(&script.packaging),
            ResourceKind::CustomResourceDefinition(definition) => zip(&definition.packaging),
            kind => {
                for (name, packaging) in images(resource, kind) {
                    if !matches!(packaging, ImagePackaging::Prebuilt(_)) {
                        needs.push(Need {
                            name,
                            resource,
                            kind: NeedKind::Image(packaging),
                        });
                    }
                }
            }
        }
    }
    needs
}

fn images<'a>(resource: &str, kind: &'a ResourceKind) -> Vec<(String, &'a ImagePackaging)> {
    let mut images = Vec::new();
    if let Some(service) = kind.as_service() {
        images.push((resource.to_owned(), service.packaging()));
        for container in service.side_containers() {
            images.push((
                container_name(resource, &container.name),
                &container.packaging,
            ));
        }
    }
    match kind {
        ResourceKind::MultiContainerWorkload(workload) => {
            for container in &workload.containers {
                images.push((
                    container_name(resource, &container.name),
                    &container.packaging,
                ));
            }
        }
        ResourceKind::BatchJob(job) => images.push((resource.to_owned(), &job.container.packaging)),
        _ => {}
    }
    images
}

/// The name of a container's artifact.
pub(crate) fn container_name(resource: &str, container: &str) -> String {
    format!("{resource}.{container}")
}

/// What a task definition says of an image.
pub(crate) struct Image {
    pub uri: Value,
    pub command: Option<Vec<String>>,
    pub entry_point: Option<Vec<String>>,
    pub credentials: Option<Value>,
}

impl Stack<'_> {
    /// A function's package: where it is, and its handler.
    pub fn zip(&mut self, name: &str, packaging: &FunctionPackaging) -> (Value, String) {
        match self.facts.artifacts.get(name) {
            Some(Artifact::Zip {
                bucket,
                key,
                handler,
                ..
            }) => {
                let handler = handler.clone().unwrap_or_else(|| usual_handler(packaging));
                (json!({ "S3Bucket": bucket, "S3Key": key }), handler)
            }
            _ => {
                self.refuse("packaging", format!("\"{name}\" was not packaged"), None);
                (json!({}), String::new())
            }
        }
    }

    /// A container's image.
    pub fn image(&mut self, name: &str, packaging: &ImagePackaging) -> Image {
        let (command, entry_point) = match packaging {
            ImagePackaging::Buildpack(_) | ImagePackaging::Nixpacks(_) => (None, None),
            ImagePackaging::ExternalBuildpack(it) => (it.command.clone(), None),
            ImagePackaging::Dockerfile(it) => (it.command.clone(), it.entry_point.clone()),
            ImagePackaging::Prebuilt(it) => (it.command.clone(), it.entry_point.clone()),
        };
        let (uri, credentials) = match (packaging, self.facts.artifacts.get(name)) {
            (ImagePackaging::Prebuilt(it), _) => (
                self.text(&it.image),
                self.maybe(it.repository_credentials_secret_arn.as_ref()),
            ),
            (_, Some(Artifact::Image { uri })) => (json!(uri), None),
            _ => {
                self.refuse("packaging", format!("\"{name}\" was not packaged"), None);
                (json!(""), None)
            }
        };
        Image {
            uri,
            command,
            entry_point,
            credentials,
        }
    }
}

/// The handler of a package whose maker did not name one.
fn usual_handler(packaging: &FunctionPackaging) -> String {
    match packaging {
        FunctionPackaging::Buildpack(it) => {
            let function = it.handler_function.as_deref().unwrap_or("handler");
            format!("index.{function}")
        }
        // `src/file.js:run` → `src/file.run`
        FunctionPackaging::CustomArtifact(it) => match it.handler.as_deref() {
            Some(handler) => match handler.rsplit_once(':') {
                Some((file, function)) => {
                    let folder = file.rfind('/').map_or(0, |at| at + 1);
                    let stem = match file.get(folder..).and_then(|it| it.rfind('.')) {
                        Some(dot) if dot > 0 => file.get(..folder + dot).unwrap_or(file),
                        _ => file,
                    };
                    format!("{stem}.{function}")
                }
                None => handler.to_owned(),
            },
            None => "index.handler".to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handlers_of_packages() {
        for (written, expected) in [
            (
                json!({"packagePath": "a.zip", "handler": "check.js:run"}),
                "check.run",
            ),
            (
                json!({"packagePath": "a.zip", "handler": "a.b/c.d.py:run"}),
                "a.b/c.d.run",
            ),
            (
                json!({"packagePath": "a.zip", "handler": "pkg.mod.run"}),
                "pkg.mod.run",
            ),
            (json!({"packagePath": "a.zip"}), "index.handler"),
        ] {
            let packaging = json!({"type": "custom-artifact", "properties": written});
            let packaging: FunctionPackaging = serde_json::from_value(packaging).unwrap();
            assert_eq!(usual_handler(&packaging), expected);
        }
    }
}
