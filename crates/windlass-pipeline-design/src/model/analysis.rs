//! What a spec says, read once: every later phase of the offline generator works from this.

use serde::{Deserialize, Serialize};

use crate::model::strategy::{Category, ConstraintType, Priority};

/// A piece of the spec that is accounted for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// `S-1`, `S-2`, … in the order of the text.
    pub id: String,
    /// Where it begins, in bytes of the original text.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// The text, white space collapsed, without Markdown marks.
    pub text: String,
    /// What it stands in.
    pub place: Place,
    /// The nearest heading above it.
    pub heading: Option<String>,
    /// What it talks about.
    pub class: SpanClass,
    /// Why it maps to nothing, when it does not.
    pub dropped: Option<String>,
}

/// What a span stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// Running text.
    Sentence,
    /// A list item.
    Bullet,
    /// A row of a table.
    TableRow,
    /// A heading.
    Heading,
}

/// What a span talks about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SpanClass {
    /// What a user can do.
    Behaviour,
    /// How well.
    Quality,
    /// Within which bounds.
    Constraint,
    /// How it looks.
    Design,
    /// Anything else.
    Context,
}

/// What a verb does to its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VerbKind {
    /// create, add, write, post, book, submit, record…
    Create,
    /// view, see, read, open: one of them.
    Read,
    /// list, browse, see all, track, search, filter.
    List,
    /// edit, update, change, rename.
    Update,
    /// delete, remove.
    Delete,
    /// sign in, log in.
    SignIn,
    /// sign up, register.
    SignUp,
    /// has, consists of, belongs to: data that is kept. Asks for no endpoint of its own; the
    /// entity's table, endpoints and pages meet it.
    Keep,
    /// Any other verb: `publish`, `approve`, `assign`.
    Other,
}

/// A noun phrase as an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Noun {
    /// Its head, singular, lower case: `quiz`.
    pub head: String,
    /// As the spec has it: `their own quizzes`.
    pub text: String,
    /// Whether it stands in the plural.
    pub plural: bool,
    /// `their`, `own`, `my`: whether it belongs to the actor.
    pub own: bool,
}

/// One behaviour: an actor, a verb, an object. One clause of the spec; one functional requirement.
/// `manage` is read as list, create, update and delete: four statements of one requirement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statement {
    /// The requirement, `FR-1`.
    pub requirement: String,
    /// The clause in the spec's own words, actor first.
    pub text: String,
    /// The spans it is from.
    pub spans: Vec<String>,
    /// Who, singular, lower case: `instructor`; `system` for what the product does by itself.
    pub actor: Option<String>,
    /// The verb, base form: `create`, `sign in`.
    pub verb: String,
    /// What it does to the object.
    pub kind: VerbKind,
    /// What it is done to.
    pub object: Option<Noun>,
    /// The entity the object is, PascalCase, where it is one.
    pub entity: Option<String>,
    /// Another entity that takes part: `assign a task to a project`.
    pub indirect: Option<String>,
    /// When, if, only: a stated condition.
    pub condition: Option<String>,
    /// Whether it must not happen.
    pub negated: bool,
    /// How important it is.
    pub priority: Priority,
}

/// A statement on how well something works.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QualityStatement {
    /// `NFR-1`.
    pub requirement: String,
    /// In the spec's words.
    pub text: String,
    /// Where.
    pub spans: Vec<String>,
    /// Of what kind.
    pub category: Category,
    /// The stated measure, verbatim: `under 2s`.
    pub metric: Option<String>,
}

/// A bound.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bound {
    /// `CON-1`.
    pub requirement: String,
    /// In the spec's words.
    pub text: String,
    /// Where.
    pub spans: Vec<String>,
    /// Of what kind.
    pub kind: ConstraintType,
}

/// A user of the product.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Role {
    /// Singular, lower case: `instructor`.
    pub name: String,
    /// Where.
    pub spans: Vec<String>,
}

/// A thing the product keeps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entity {
    /// Singular PascalCase.
    pub name: String,
    /// Where it is named.
    pub spans: Vec<String>,
    /// What is kept of it, as stated.
    pub fields: Vec<StatedField>,
    /// Other words the spec uses for it.
    pub synonyms: Vec<String>,
}

/// A stated attribute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatedField {
    /// snake_case.
    pub name: String,
    /// As the spec has it.
    pub text: String,
    /// The type its name, unit or values say.
    pub kind: crate::model::architecture::FieldType,
    /// The listed values, for `enum`.
    pub values: Vec<String>,
    /// Whether it is stated to be unique.
    pub unique: bool,
    /// Whether it is stated to be optional.
    pub optional: bool,
    /// Where.
    pub spans: Vec<String>,
}

/// A stated relation between two entities.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Relation {
    /// The one side.
    pub from: String,
    /// The many side, or the other one.
    pub to: String,
    /// How many.
    pub kind: crate::model::architecture::RelationType,
    /// Where.
    pub spans: Vec<String>,
}

/// Who may do what with an entity, as stated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessRule {
    /// The entity; all of them when absent.
    pub entity: Option<String>,
    /// The rule.
    pub rule: Access,
    /// The rows it is stated for, where not all: `published articles are public`.
    #[serde(default)]
    pub only_when: Option<StatedValue>,
    /// Where.
    pub spans: Vec<String>,
}

/// A value of an `enum` field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatedValue {
    /// The field, snake_case.
    pub field: String,
    /// The value, as listed.
    pub value: String,
}

/// A kind of access.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Only who made it.
    Owner,
    /// Everyone may read, the creator may write.
    PublicRead,
    /// Who made the thing it belongs to may read: `teachers can view the attempts on their
    /// quizzes` is `ParentOwner("Quiz")` of `Attempt`.
    ParentOwner(String),
    /// Those with a role may read.
    RoleRead(String),
    /// Those with a role may do everything.
    RoleAll(String),
    /// Members of the same team, organisation, workspace: the tenant's entity.
    Members(String),
}

/// A stated colour.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatedColour {
    /// As the spec has it: `dark green`, `#F8F9FA`.
    pub text: String,
    /// `#RRGGBB`.
    pub value: String,
    /// `background`, `text`, `primary`, `secondary`, or the word it is stated for.
    pub role: String,
    /// Where.
    pub spans: Vec<String>,
}

/// Any other stated word with a place: a page, a font, a style, a product's name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stated {
    /// As the spec has it.
    pub text: String,
    /// Where.
    pub spans: Vec<String>,
}

/// Something outside that the product works with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Integration {
    /// `payment`, `email`, `maps`, `calendar`, `storage`, `ai`, `webhook`, `search`, `other`.
    pub kind: String,
    /// As the spec has it: `Stripe`.
    pub text: String,
    /// Where.
    pub spans: Vec<String>,
}

/// Something the spec leaves open or says twice; never an error of ours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Weakness {
    /// `no_metric`, `duplicate`, `verb_without_object`, `contradiction`, `vague`.
    pub check: String,
    /// What is weak about it.
    pub message: String,
    /// Where.
    pub spans: Vec<String>,
}

/// What a spec says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Analysis {
    /// The product's name, where one is stated.
    pub product: Option<Stated>,
    /// Every piece of the text.
    pub spans: Vec<Span>,
    /// Behaviours, in the order of the text.
    pub statements: Vec<Statement>,
    /// Qualities.
    pub qualities: Vec<QualityStatement>,
    /// Bounds.
    pub bounds: Vec<Bound>,
    /// Users.
    pub roles: Vec<Role>,
    /// Things that are kept.
    pub entities: Vec<Entity>,
    /// How they belong together.
    pub relations: Vec<Relation>,
    /// Who may do what.
    pub access: Vec<AccessRule>,
    /// Stated pages.
    pub pages: Vec<Stated>,
    /// Stated colours.
    pub colours: Vec<StatedColour>,
    /// Stated fonts.
    pub fonts: Vec<Stated>,
    /// Stated words on style and layout.
    pub styles: Vec<Stated>,
    /// Stated numbers with their unit, verbatim.
    pub numbers: Vec<Stated>,
    /// Quoted or capitalised names that must appear verbatim.
    pub names: Vec<Stated>,
    /// Things outside.
    pub integrations: Vec<Integration>,
    /// Whether people sign in, and where that is said; empty when nothing says so.
    pub sign_in: Vec<String>,
    /// Weak points of the spec.
    pub weaknesses: Vec<Weakness>,
}
