//! How code becomes something that runs: a zip for functions, an image for containers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tagged::tagged;
use crate::value::{Scalar, Text};

tagged! {
    /// How a function's code becomes a deployment package.
    pub enum FunctionPackaging {
        /// Built from source: bundled, with its dependencies.
        Buildpack(FunctionBuildpack) = "stacktape-lambda-buildpack",
        /// A package you built yourself.
        CustomArtifact(CustomArtifact) = "custom-artifact",
    }
}

tagged! {
    /// How a container's image is built.
    pub enum ImagePackaging {
        /// Built from source: bundled, with its dependencies.
        Buildpack(ImageBuildpack) = "stacktape-image-buildpack",
        /// Built by Cloud Native Buildpacks.
        ExternalBuildpack(ExternalBuildpack) = "external-buildpack",
        /// Built by Nixpacks.
        Nixpacks(Nixpacks) = "nixpacks",
        /// Built from your Dockerfile.
        Dockerfile(Dockerfile) = "custom-dockerfile",
        /// An image that exists.
        Prebuilt(PrebuiltImage) = "prebuilt-image",
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FunctionBuildpack {
    /// The file with the handler, relative to the config.
    #[schemars(length(min = 1))]
    pub entryfile_path: String,
    /// The handler's name in that file: `default` or `handler` without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handler_function: Option<String>,
    /// Patterns of further files to include.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub include_files: Vec<String>,
    /// Patterns of files to leave out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclude_files: Vec<String>,
    /// Dependencies to leave out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclude_dependencies: Vec<String>,
    /// Settings of the language's build.
    #[serde(default)]
    pub language_specific_config: LanguageConfig,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ImageBuildpack {
    /// The file that is started, relative to the config.
    #[schemars(length(min = 1))]
    pub entryfile_path: String,
    /// Patterns of further files to include.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub include_files: Vec<String>,
    /// Patterns of files to leave out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclude_files: Vec<String>,
    /// Dependencies to leave out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclude_dependencies: Vec<String>,
    /// Settings of the language's build.
    #[serde(default)]
    pub language_specific_config: LanguageConfig,
    /// Build on an image with glibc, for native dependencies that need it.
    #[serde(default)]
    pub requires_glibc_binaries: bool,
    /// Commands run while the image is built.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub custom_docker_build_commands: Vec<String>,
}

/// Settings of a language's build. Which of them apply follows from the entry file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LanguageConfig {
    /// JavaScript, TypeScript: the `tsconfig.json`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ts_config_path: Option<String>,
    /// TypeScript: emit decorator metadata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emit_ts_decorator_metadata: Option<bool>,
    /// JavaScript, TypeScript: dependencies installed next to the bundle; `*` for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dependencies_to_exclude_from_bundle: Option<Vec<String>>,
    /// JavaScript, TypeScript: dependencies left out altogether; `*` for all unbundled ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dependencies_to_exclude_from_deployment_package: Option<Vec<String>>,
    /// JavaScript, TypeScript: the form of the bundle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_module_format: Option<ModuleFormat>,
    /// JavaScript, TypeScript: the major version of Node; by the function's runtime without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 16, max = 24))]
    pub node_version: Option<u32>,
    /// JavaScript, TypeScript: create no source maps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disable_source_maps: Option<bool>,
    /// JavaScript, TypeScript: write source maps here instead of into the package.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_source_maps_to: Option<String>,
    /// Python, Java: the file that names the dependencies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package_manager_file: Option<String>,
    /// Python: the program that installs dependencies; by the file without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package_manager: Option<PythonPackageManager>,
    /// Python: the version; by the function's runtime without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub python_version: Option<Scalar>,
    /// Python images: serve the app named in the entry file as WSGI or ASGI.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_app_as: Option<PythonServer>,
    /// Python: make the code smaller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minify: Option<bool>,
    /// Java: build with Maven instead of Gradle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub use_maven: Option<bool>,
    /// Java: the version; by the function's runtime without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub java_version: Option<u32>,
    /// Ruby: the version; by the function's runtime without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ruby_version: Option<Scalar>,
    /// PHP: the version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub php_version: Option<Scalar>,
    /// .NET: the version; by the function's runtime without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dotnet_version: Option<Scalar>,
    /// .NET: the project file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_file: Option<String>,
}

/// The form of a JavaScript bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ModuleFormat {
    Cjs,
    Esm,
}

/// A program that installs Python dependencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PythonPackageManager {
    Pip,
    Pipenv,
    Poetry,
    Uv,
}

/// How a Python app is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum PythonServer {
    Wsgi,
    Asgi,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CustomArtifact {
    /// The package: a zip, a file or a directory, relative to the config.
    #[schemars(length(min = 1))]
    pub package_path: String,
    /// The handler, as `file:function`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handler: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExternalBuildpack {
    /// The source directory, relative to the config.
    pub source_directory_path: String,
    /// The builder image.
    #[serde(default = "default_builder")]
    pub builder: String,
    /// Buildpacks; detected without.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub buildpacks: Vec<String>,
    /// What is started instead of the image's own command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
}

fn default_builder() -> String {
    "paketobuildpacks/builder-jammy-base".to_owned()
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Nixpacks {
    /// The source directory, relative to the config.
    pub source_directory_path: String,
    /// The image the build runs on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build_image: Option<String>,
    /// Providers; detected without.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub providers: Vec<String>,
    /// What is started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_cmd: Option<String>,
    /// The image the app runs on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_run_image: Option<String>,
    /// The only files copied into the final image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_only_include_files: Option<Vec<String>>,
    /// Build phases.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<NixpacksPhase>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NixpacksPhase {
    /// The phase's name.
    pub name: String,
    /// Commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cmds: Option<Vec<String>>,
    /// Nix packages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nix_pkgs: Option<Vec<String>>,
    /// Nix libraries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nix_libs: Option<Vec<String>>,
    /// Nix overlays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nix_overlay: Option<Vec<String>>,
    /// The archive of Nix packages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nixpkgs_archive: Option<String>,
    /// APT packages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apt_pkgs: Option<Vec<String>>,
    /// Directories kept between builds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_directories: Option<Vec<String>>,
    /// The only files the phase sees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only_include_files: Option<Vec<String>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Dockerfile {
    /// The directory the build sees, relative to the config.
    #[schemars(length(min = 1))]
    pub build_context_path: String,
    /// The Dockerfile, relative to that directory: `Dockerfile` without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dockerfile_path: Option<String>,
    /// Build arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub build_args: Vec<BuildArgument>,
    /// What is started instead of the image's own command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
    /// What is started instead of the image's own entry point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry_point: Option<Vec<String>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BuildArgument {
    /// The argument's name.
    pub arg_name: String,
    /// Its value. It is needed before the deploy, so it cannot be a runtime directive.
    pub value: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PrebuiltImage {
    /// The image's name or address.
    pub image: Text,
    /// What is started instead of the image's own command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
    /// What is started instead of the image's own entry point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry_point: Option<Vec<String>>,
    /// A secret with the `username` and `password` of a private registry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository_credentials_secret_arn: Option<Text>,
}
