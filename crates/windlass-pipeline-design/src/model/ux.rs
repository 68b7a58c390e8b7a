//! `aios_design_ux`: flows, pages, tokens.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::{Coverage, Generator, QualityReport, Trace};

/// How a user gets something done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct UserFlow {
    /// Its name.
    pub name: String,
    /// From the entry to success.
    pub steps: Vec<String>,
    /// Who.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// Why it is here.
    #[serde(default)]
    pub trace: Vec<Trace>,
}

/// How a page is laid out.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// One below the other.
    SingleColumn,
    /// A sidebar and the rest.
    SidebarMain,
    /// Two halves.
    Split,
    /// Cards.
    Grid,
    /// In the middle.
    Centered,
    /// A list and one of it.
    MasterDetail,
}

impl Layout {
    /// The name in contract 001.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SingleColumn => "single-column",
            Self::SidebarMain => "sidebar-main",
            Self::Split => "split",
            Self::Grid => "grid",
            Self::Centered => "centered",
            Self::MasterDetail => "master-detail",
        }
    }
}

/// A page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct UxPage {
    /// Its name, verbatim where the spec states one.
    pub name: String,
    /// What is on it, PascalCase.
    pub components: Vec<String>,
    /// How it is laid out.
    pub layout: Layout,
    /// `/quizzes/{id}`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub route: String,
    /// What for.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub purpose: String,
    /// `list`, `detail`, `form`, `sign-in`, `landing`, `dashboard`, `custom`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// The entity it shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entity: Option<String>,
    /// `loading`, `empty`, `error` and stated ones.
    #[serde(default)]
    pub states: Vec<String>,
    /// Why it is here.
    #[serde(default)]
    pub trace: Vec<Trace>,
}

/// The four colours the contract names; more by role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Colors {
    /// Buttons, links.
    pub primary: String,
    /// Accents.
    pub secondary: String,
    /// Behind everything.
    pub background: String,
    /// What is read.
    pub text: String,
    /// Others, by role.
    #[serde(flatten)]
    pub more: BTreeMap<String, String>,
}

/// How text looks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Typography {
    /// The font.
    pub font_family: String,
    /// The font of headings, where it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heading_font_family: Option<String>,
    /// `h1`, `h2`, `h3` in rem.
    pub heading_sizes: BTreeMap<String, String>,
}

/// How far things are apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Spacing {
    /// One step.
    pub unit: String,
    /// The steps that are used.
    pub scale: Vec<u32>,
}

/// A stated token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct StatedToken {
    /// As the spec has it.
    pub text: String,
    /// What for.
    pub role: String,
    /// `#RRGGBB`, a font.
    pub value: String,
    /// Why it is here.
    #[serde(default)]
    pub trace: Vec<Trace>,
}

/// How well two colours can be distinguished.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Contrast {
    /// In front.
    pub foreground: String,
    /// Behind.
    pub background: String,
    /// WCAG's ratio, two decimals.
    pub ratio: f64,
    /// What is needed.
    pub required: f64,
    /// Whether it is reached.
    pub passes: bool,
}

/// Colours, type, spacing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct DesignTokens {
    /// Colours.
    pub colors: Colors,
    /// Type.
    pub typography: Typography,
    /// Spacing.
    pub spacing: Spacing,
    /// What of it was stated.
    #[serde(default)]
    pub stated: Vec<StatedToken>,
    /// How well it can be read.
    #[serde(default)]
    pub contrast: Vec<Contrast>,
}

/// The whole design.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct UxSpec {
    /// How things get done.
    pub user_flows: Vec<UserFlow>,
    /// Where.
    pub pages: Vec<UxPage>,
    /// How it looks.
    pub design_tokens: DesignTokens,
    /// With which components.
    pub component_library: String,
}

/// The answer of `aios_design_ux`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct UxOutput {
    /// The design.
    pub ux_spec: UxSpec,
    /// The same as a document.
    pub ux_markdown: String,
    /// By what.
    pub generator: Generator,
    /// What became of the spec.
    pub coverage: Coverage,
    /// How good it is.
    pub quality_report: QualityReport,
}
