//! The exact versions a generated project is built with: the one table of them.
//!
//! The set installs, type-checks, lints, builds and tests together on Node 20.20; newer releases of
//! some need Node 22 or refuse one another, so a version is never raised alone.

use crate::model::Preset;

/// A package and where it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Package {
    /// Its name in the registry.
    pub name: &'static str,
    /// Exactly.
    pub version: &'static str,
    /// The preset it belongs to; both when absent.
    pub only: Option<Preset>,
    /// Whether it is needed for building and testing only.
    pub development: bool,
}

const fn used(name: &'static str, version: &'static str) -> Package {
    Package {
        name,
        version,
        only: None,
        development: false,
    }
}

const fn build(name: &'static str, version: &'static str) -> Package {
    Package {
        name,
        version,
        only: None,
        development: true,
    }
}

const fn in_preset(package: Package, preset: Preset) -> Package {
    Package {
        only: Some(preset),
        ..package
    }
}

/// Every package, by name.
pub const PACKAGES: &[Package] = &[
    in_preset(build("@eslint/js", "9.39.5"), Preset::ViteReact),
    used("@fontsource-variable/inter", "5.3.0"),
    used("@radix-ui/react-slot", "1.5.0"),
    in_preset(used("@supabase/ssr", "0.12.0"), Preset::NextjsReact),
    used("@supabase/supabase-js", "2.109.0"),
    in_preset(build("@tailwindcss/postcss", "4.3.5"), Preset::NextjsReact),
    in_preset(build("@tailwindcss/vite", "4.3.5"), Preset::ViteReact),
    build("@testing-library/dom", "10.4.2"),
    build("@testing-library/react", "16.3.3"),
    build("@types/node", "20.19.25"),
    build("@types/react", "19.3.0"),
    build("@types/react-dom", "19.3.0"),
    build("@vitejs/plugin-react", "6.3.0"),
    used("class-variance-authority", "0.7.1"),
    used("clsx", "2.1.1"),
    build("eslint", "9.39.5"),
    in_preset(build("eslint-config-next", "16.4.6"), Preset::NextjsReact),
    in_preset(
        build("eslint-plugin-react-hooks", "7.1.1"),
        Preset::ViteReact,
    ),
    build("jsdom", "27.4.0"),
    used("lucide-react", "1.71.0"),
    in_preset(used("next", "16.4.6"), Preset::NextjsReact),
    used("react", "19.3.1"),
    used("react-dom", "19.3.1"),
    in_preset(used("react-router-dom", "7.18.5"), Preset::ViteReact),
    used("tailwind-merge", "3.7.0"),
    build("tailwindcss", "4.3.5"),
    build("typescript", "6.0.3"),
    in_preset(build("typescript-eslint", "8.72.2"), Preset::ViteReact),
    build("vite", "8.3.8"),
    build("vitest", "4.1.12"),
    used("zod", "4.6.7"),
];

/// The packages of a preset.
pub fn packages(preset: Preset) -> impl Iterator<Item = &'static Package> {
    PACKAGES
        .iter()
        .filter(move |package| package.only.is_none_or(|only| only == preset))
}

/// The version of a package; empty when the table does not have it.
pub fn version(name: &str) -> &'static str {
    PACKAGES
        .iter()
        .find(|package| package.name == name)
        .map_or("", |package| package.version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_every_version_exact() {
        let names: Vec<&str> = PACKAGES.iter().map(|package| package.name).collect();
        assert!(names.is_sorted(), "{names:?}");
        for package in PACKAGES {
            let parts: Vec<&str> = package.version.split('.').collect();
            assert!(
                parts.len() == 3 && parts.iter().all(|part| part.parse::<u32>().is_ok()),
                "{package:?}"
            );
        }
    }

    #[test]
    fn a_preset_has_its_own_packages_and_the_shared_ones() {
        let has = |preset, name| packages(preset).any(|package| package.name == name);
        assert!(has(Preset::NextjsReact, "next") && !has(Preset::ViteReact, "next"));
        assert!(has(Preset::ViteReact, "react-router-dom"));
        assert!(Preset::ALL.into_iter().all(|preset| has(preset, "react")));
        assert_eq!(version("next"), "16.4.6");
        assert_eq!(version("left-pad"), "");
    }
}
