//! The closed choices of a configuration.

use serde::{Deserialize, Serialize};

/// Declares an enum whose variants are one word on the wire.
macro_rules! choice {
    ($(#[$doc:meta])* $name:ident { $($(#[$attribute:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
            schemars::JsonSchema,
        )]
        pub enum $name {
            $($(#[$attribute])* #[serde(rename = $word)] $variant,)*
        }

        impl $name {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The word on the wire.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }

            /// The choice of a word.
            pub fn by_name(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|choice| choice.as_str() == word)
            }
        }
    };
}

choice! {
    /// What a product is written for.
    TargetPlatform {
        /// Python.
        Python = "python",
        /// TypeScript.
        Typescript = "typescript",
        /// JavaScript.
        Javascript = "javascript",
        /// Java.
        Java = "java",
        /// C# and related languages.
        Dotnet = "dotnet",
        /// C++ and C.
        Cpp = "cpp",
        /// Go.
        Go = "go",
        /// Ruby.
        Ruby = "ruby",
        /// PHP.
        Php = "php",
        /// Kotlin.
        Kotlin = "kotlin",
        /// Swift.
        Swift = "swift",
        /// Rust.
        Rust = "rust",
        /// Anything else, or several.
        Other = "other",
    }
}

choice! {
    /// A family of platforms.
    PlatformFamily {
        /// Python.
        Python = "python",
        /// JavaScript and TypeScript.
        Node = "node",
        /// Java.
        Java = "java",
        /// C# and related languages.
        Dotnet = "dotnet",
        /// C++ and C.
        Cpp = "cpp",
        /// Go.
        Go = "go",
        /// Ruby.
        Ruby = "ruby",
        /// PHP.
        Php = "php",
        /// Kotlin.
        Kotlin = "kotlin",
        /// Swift.
        Swift = "swift",
        /// Rust.
        Rust = "rust",
        /// Anything else, or several.
        Other = "other",
    }
}

choice! {
    /// What a product is.
    ProductType {
        /// A kit for developers.
        Sdk = "sdk",
        /// A library.
        Library = "library",
        /// A program for the command line.
        Cli = "cli",
        /// A service.
        Service = "service",
        /// A part of another program.
        Plugin = "plugin",
        /// A tool.
        Tool = "tool",
        /// Anything else.
        Other = "other",
    }
}

choice! {
    /// How much is written.
    #[derive(Default)]
    LaunchTier {
        /// The pages that must be there.
        Minimal = "minimal",
        /// Those, and what the evidence supports.
        #[default]
        Standard = "standard",
        /// All that the evidence supports.
        Rich = "rich",
    }
}

choice! {
    /// What kind of site it is.
    #[derive(Default)]
    SiteKindChoice {
        /// Hugo where there is a Hugo configuration, else plain Markdown.
        #[default]
        Auto = "auto",
        /// Built by Hugo.
        Hugo = "hugo",
        /// Plain Markdown files.
        Markdown = "markdown",
    }
}

choice! {
    /// The position of the language in a page's path.
    #[derive(Default)]
    LocaleMode {
        /// As the site does it.
        #[default]
        Auto = "auto",
        /// Nowhere.
        None = "none",
        /// A folder.
        Dir = "dir",
        /// Before the ending of the file name.
        Filename = "filename",
    }
}

choice! {
    /// How strictly gates on form are judged in profile ci.
    #[derive(Default)]
    CiStrictness {
        /// Their errors are warnings.
        Relaxed = "relaxed",
        /// As listed.
        #[default]
        Strict = "strict",
    }
}

choice! {
    /// How the result is committed.
    #[derive(Default)]
    CommitAdapter {
        /// A branch in a local repository.
        #[default]
        Local = "local",
        /// GitHub's REST interface.
        Github = "github",
        /// GitLab's REST interface.
        Gitlab = "gitlab",
        /// A commit service.
        Http = "http",
    }
}

choice! {
    /// What `.gitignore` means for reading.
    #[derive(Default)]
    GitignoreMode {
        /// Ignored files are not read.
        #[default]
        Respect = "respect",
        /// Everything is read.
        Ignore = "ignore",
        /// Ignored files are not read, and one that is tracked is an error.
        Strict = "strict",
    }
}

impl PlatformFamily {
    /// The family of what the scout found; `multi`, `unknown` and other words are `other`.
    pub fn of_profile(word: &str) -> Self {
        Self::by_name(word).unwrap_or(Self::Other)
    }
}

impl TargetPlatform {
    /// The family this platform belongs to.
    pub const fn family(self) -> PlatformFamily {
        match self {
            Self::Python => PlatformFamily::Python,
            Self::Typescript | Self::Javascript => PlatformFamily::Node,
            Self::Java => PlatformFamily::Java,
            Self::Dotnet => PlatformFamily::Dotnet,
            Self::Cpp => PlatformFamily::Cpp,
            Self::Go => PlatformFamily::Go,
            Self::Ruby => PlatformFamily::Ruby,
            Self::Php => PlatformFamily::Php,
            Self::Kotlin => PlatformFamily::Kotlin,
            Self::Swift => PlatformFamily::Swift,
            Self::Rust => PlatformFamily::Rust,
            Self::Other => PlatformFamily::Other,
        }
    }
}
