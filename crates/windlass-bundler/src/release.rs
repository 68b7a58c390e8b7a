//! The packages that are fetched: versions, and the hashes they must have.
//!
//! To take another version: `npm view PACKAGE@VERSION dist.integrity` names the SHA-512;
//! `tar -xzOf FILE.tgz package/PATH | sha256sum` the SHA-256 of a file. `identity` of the bundler
//! follows the versions, so packages that were made with another one are made again.

/// The version of esbuild.
pub const ESBUILD: &str = "0.28.2";
/// The version of the TypeScript compiler.
pub const TYPESCRIPT: &str = "5.9.3";

/// A package of an npm registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Package {
    /// The name, with its scope.
    pub name: &'static str,
    /// The version.
    pub version: &'static str,
    /// The SHA-512 of the tarball, in base64 as npm writes it.
    pub sha512: &'static str,
    /// What is kept of it.
    pub file: PackedFile,
}

/// A file of a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackedFile {
    /// Where it is in the tarball, below `package/`.
    pub path: &'static str,
    /// Its SHA-256.
    pub sha256: &'static str,
    /// Whether it is run.
    pub is_program: bool,
}

/// The packages for one machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Release {
    /// esbuild for this system; none where there is none.
    pub esbuild: Option<Package>,
    /// Its interface for Node.
    pub interface: Package,
    /// The TypeScript compiler.
    pub typescript: Package,
}

impl Release {
    /// The packages for the machine this runs on.
    pub fn of_this_machine() -> Self {
        Self::of(std::env::consts::OS, std::env::consts::ARCH)
    }

    /// The packages for a system and its processors, as Rust names them.
    pub fn of(system: &str, processor: &str) -> Self {
        Self {
            esbuild: match (system, processor) {
                ("linux", "x86_64") => Some(program(
                    "@esbuild/linux-x64",
                    "4xTZr1FUmSoQW4XIWmit3tzQrUTZM+N3P0XV8xROKYF50XfI7xeO90+1bZvNwxIufQ9hDQVRJH5YhgPVF8A/HQ==",
                    "e1698a3d5c6c0798fee4fd3b5cc816651f460c63d390a7a26ea4beb0b1884100",
                )),
                ("linux", "aarch64") => Some(program(
                    "@esbuild/linux-arm64",
                    "pW4AC0P3it8c7do9MVM4p51FzHzdM/TZrerurgRcHJ2WTa1VQ1CIq18xncfpBJw4ojkiZZrKW2yIBWBP92j6Ug==",
                    "90bd269553d258e80b19e3ccab4f98f0831f87442a2f056510ce24fd1b425fc2",
                )),
                ("macos", "x86_64") => Some(program(
                    "@esbuild/darwin-x64",
                    "uq6suIWYP37qzGddBKPw5QEQPi6HiLGsO7UmkpfyaYNQ3D+rN6w6WfwH+nuqcGXWvawGwxOEroO4YGnFh95azw==",
                    "7fe5c9c905fff0a05d92db98929434ab4d3b6dd92d7a7688922db74380c75df3",
                )),
                ("macos", "aarch64") => Some(program(
                    "@esbuild/darwin-arm64",
                    "n4KqkOQrraxHJcgjM1RvwbigfQKIKJVpM7xp+KsxiyUSrRdIXnt73VhrPAx0fV44hgfmIVKjxMN9J1t5jySVkw==",
                    "10b6243df618d374bb2d5c9cfbe7052e1405f6aa4e53a6164f11a91b9f2e1384",
                )),
                _ => None,
            },
            interface: Package {
                name: "esbuild",
                version: ESBUILD,
                sha512: "HKVLS8dvII+xoKW9kmqxbRKrnWEXfJJr/FZhhJmiqIB0e053QNYFqOBouTMO/k5sID4MvCiUCvv8b9M4h32wIA==",
                file: PackedFile {
                    path: "lib/main.js",
                    sha256: "61ec0ba144ff93f4bf0e96ad6fab6f430ede0aa13e27ace8063ed63ba416b3cd",
                    is_program: false,
                },
            },
            typescript: Package {
                name: "typescript",
                version: TYPESCRIPT,
                sha512: "jl1vZzPDinLr9eUt3J/t7V6FgNEw9QjvBPdysz9KfQDD41fQrC2Y4vKQdiaUpFT4bXlb1RHhLpp8wtm6M5TgSw==",
                file: PackedFile {
                    path: "lib/typescript.js",
                    sha256: "3ae902c92cc44dace175c0e69e13a4b0899f6983c6121d76b9ab8dd5795e7675",
                    is_program: false,
                },
            },
        }
    }
}

/// esbuild for one system: the npm package is nothing but the program.
const fn program(name: &'static str, sha512: &'static str, sha256: &'static str) -> Package {
    Package {
        name,
        version: ESBUILD,
        sha512,
        file: PackedFile {
            path: "bin/esbuild",
            sha256,
            is_program: true,
        },
    }
}

#[cfg(test)]
mod tests {
    use base64::{Engine as _, engine::general_purpose::STANDARD};

    use super::*;

    #[test]
    fn every_pin_is_a_whole_hash() {
        for (system, processor, is_there) in [
            ("linux", "x86_64", true),
            ("linux", "aarch64", true),
            ("macos", "x86_64", true),
            ("macos", "aarch64", true),
            ("linux", "riscv64", false),
            ("windows", "x86_64", false),
        ] {
            let release = Release::of(system, processor);
            assert_eq!(release.esbuild.is_some(), is_there, "{system} {processor}");
            let all = release.esbuild.into_iter();
            for package in all.chain([release.interface, release.typescript]) {
                assert_eq!(STANDARD.decode(package.sha512).unwrap().len(), 64);
                assert_eq!(package.file.sha256.len(), 64, "{}", package.name);
            }
        }
    }
}
