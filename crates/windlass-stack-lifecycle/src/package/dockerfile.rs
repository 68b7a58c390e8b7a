//! The Dockerfile of an image that is built from source.

use serde_json::json;
use windlass_stack_config::model::packaging::{ImageBuildpack, PythonServer};

use crate::package::lang::{
    IMAGE_REQUIREMENTS, Language, java_version, node_version, python_version,
};
use crate::package::stage::Entry;
use crate::package::workshop::Source;

/// The Dockerfile for staged files; the failure is a sentence.
pub(crate) fn of(
    source: &Source<'_>,
    buildpack: &ImageBuildpack,
    start: &str,
    entries: &[Entry],
) -> Result<String, String> {
    let mut lines = Vec::new();
    let language = Language::of(source.entry);
    let command = match language {
        Some(Language::Python) => {
            let system = if buildpack.requires_glibc_binaries {
                "slim"
            } else {
                "alpine"
            };
            lines.push(format!(
                "FROM docker.io/library/python:{}-{system}",
                python_version(source)
            ));
            lines.push("WORKDIR /app".to_owned());
            lines.push("ENV PYTHONUNBUFFERED=1".to_owned());
            if entries.iter().any(|it| it.path == IMAGE_REQUIREMENTS) {
                // Before the code, so that a change of the code keeps the layer.
                lines.push(format!("COPY {IMAGE_REQUIREMENTS} ./"));
                lines.push(format!(
                    "RUN pip install --no-cache-dir -r {IMAGE_REQUIREMENTS}"
                ));
            }
            python_command(source, start, &mut lines)?
        }
        Some(Language::Java) => {
            let version = java_version(source);
            lines.push(format!(
                "FROM docker.io/library/eclipse-temurin:{version}-jre"
            ));
            lines.push("WORKDIR /app".to_owned());
            json!(["java", "-cp", "/app:/app/lib/*", start])
        }
        Some(Language::Go) => {
            lines.push("FROM docker.io/library/alpine:3".to_owned());
            lines.push("WORKDIR /app".to_owned());
            json!([format!("/app/{start}")])
        }
        _ => {
            let system = if buildpack.requires_glibc_binaries {
                "slim"
            } else {
                "alpine"
            };
            lines.push(format!(
                "FROM docker.io/library/node:{}-{system}",
                node_version(source)
            ));
            lines.push("WORKDIR /app".to_owned());
            lines.push("ENV NODE_ENV=production".to_owned());
            json!(["node", "--enable-source-maps", start])
        }
    };
    lines.push("COPY . .".to_owned());
    for it in &buildpack.custom_docker_build_commands {
        if it.contains('\n') {
            return Err(format!("the build command {it:?} has more than one line"));
        }
        lines.push(format!("RUN {it}"));
    }
    lines.push(format!("CMD {command}"));
    Ok(lines.join("\n") + "\n")
}

fn python_command(
    source: &Source<'_>,
    start: &str,
    lines: &mut Vec<String>,
) -> Result<serde_json::Value, String> {
    let Some(server) = source.language.run_app_as else {
        return Ok(json!(["python", start]));
    };
    let app = source.app.unwrap_or("app");
    let module = start.strip_suffix(".py").unwrap_or(start).replace('/', ".");
    // Both end in a command line.
    let is_plain = |it: &str| {
        it.chars()
            .all(|it| it.is_alphanumeric() || matches!(it, '_' | '.'))
    };
    if !is_plain(app) || !is_plain(&module) {
        return Err(format!("{module}:{app} does not name an app"));
    }
    let (package, serve) = match server {
        PythonServer::Asgi => ("uvicorn", "uvicorn --host 0.0.0.0 --port ${PORT:-3000}"),
        PythonServer::Wsgi => ("gunicorn", "gunicorn --bind 0.0.0.0:${PORT:-3000}"),
    };
    lines.push(format!("RUN pip install --no-cache-dir {package}"));
    Ok(json!(["sh", "-c", format!("exec {serve} {module}:{app}")]))
}
