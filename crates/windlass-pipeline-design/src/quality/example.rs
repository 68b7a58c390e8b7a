//! A small product for tests: what its spec says and everything designed from it.

use crate::model::analysis::{
    Entity, Noun, Place, Role, Span, SpanClass, Stated, StatedColour, StatedField, Statement,
    VerbKind,
};
use crate::model::architecture::FieldType;
use crate::model::strategy::{Constraint, Functional, Priority};
use crate::model::{Analysis, Architecture, GeneratedFile, Preset, Requirements, Trace, UxSpec};
use crate::quality::outputs::Outputs;
use crate::{DesignOptions, architecture, architecture_markdown, ux, ux_markdown};

/// Everything, owned.
pub(crate) struct Product {
    pub(crate) analysis: Analysis,
    pub(crate) requirements: Requirements,
    pub(crate) architecture: Architecture,
    pub(crate) architecture_markdown: String,
    pub(crate) ux: UxSpec,
    pub(crate) ux_markdown: String,
    pub(crate) files: Vec<GeneratedFile>,
}

fn span(number: usize, text: &str, class: SpanClass, place: Place) -> Span {
    Span {
        id: format!("S-{number}"),
        start: number * 100,
        end: number * 100 + text.len(),
        text: text.to_owned(),
        place,
        heading: None,
        class,
        dropped: None,
    }
}

fn statement(number: usize, kind: VerbKind, verb: &str, priority: Priority) -> Statement {
    Statement {
        requirement: format!("FR-{number}"),
        text: format!("clerks {verb} at most 40 parcels"),
        spans: vec![format!("S-{}", number + 1)],
        actor: Some("clerk".to_owned()),
        verb: verb.to_owned(),
        kind,
        object: Some(Noun {
            head: "parcel".to_owned(),
            text: "parcels".to_owned(),
            plural: true,
            own: false,
        }),
        entity: Some("Parcel".to_owned()),
        indirect: None,
        condition: None,
        negated: false,
        priority,
    }
}

/// A parcel office: two things that are built, one that is out of scope, a colour, a number.
pub(crate) fn parcels() -> Product {
    let analysis = Analysis {
        product: Some(Stated {
            text: "Parcelo".to_owned(),
            spans: vec!["S-1".to_owned()],
        }),
        spans: vec![
            span(1, "Parcelo", SpanClass::Context, Place::Heading),
            span(
                2,
                "clerks record parcels",
                SpanClass::Behaviour,
                Place::Bullet,
            ),
            span(
                3,
                "clerks list parcels",
                SpanClass::Behaviour,
                Place::Bullet,
            ),
            span(
                4,
                "clerks weigh parcels",
                SpanClass::Behaviour,
                Place::Bullet,
            ),
            span(5, "buttons are teal", SpanClass::Design, Place::Sentence),
            span(6, "use Supabase", SpanClass::Constraint, Place::Sentence),
            span(7, "Parcels are old.", SpanClass::Context, Place::Sentence),
        ],
        statements: vec![
            statement(1, VerbKind::Create, "record", Priority::Must),
            statement(2, VerbKind::List, "list", Priority::Must),
            statement(3, VerbKind::Other, "weigh", Priority::Wont),
        ],
        roles: vec![Role {
            name: "clerk".to_owned(),
            spans: vec!["S-2".to_owned()],
        }],
        entities: vec![Entity {
            name: "Parcel".to_owned(),
            spans: vec!["S-2".to_owned()],
            fields: vec![StatedField {
                name: "code".to_owned(),
                text: "code".to_owned(),
                kind: FieldType::String,
                values: Vec::new(),
                unique: true,
                optional: false,
                spans: vec!["S-2".to_owned()],
            }],
            synonyms: Vec::new(),
        }],
        colours: vec![StatedColour {
            text: "teal".to_owned(),
            value: "#008080".to_owned(),
            role: "primary".to_owned(),
            spans: vec!["S-5".to_owned()],
        }],
        numbers: vec![Stated {
            text: "40 parcels".to_owned(),
            spans: vec!["S-2".to_owned()],
        }],
        ..Analysis::default()
    };
    let requirements = Requirements {
        functional: analysis
            .statements
            .iter()
            .map(|one| Functional {
                id: one.requirement.clone(),
                description: one.text.clone(),
                priority: one.priority,
                acceptance: vec!["Then it is done".to_owned()],
                trace: one.spans.iter().map(|span| Trace::spec(span)).collect(),
            })
            .collect(),
        constraints: vec![Constraint {
            id: "CON-1".to_owned(),
            description: "use Supabase".to_owned(),
            kind: None,
            trace: vec![Trace::spec("S-6")],
        }],
        ..Requirements::default()
    };
    let preset = Preset::NextjsReact;
    let options = DesignOptions::default();
    let made = architecture(&analysis, &requirements, preset);
    let markdown = architecture_markdown(&analysis, &requirements, &made, preset, &options);
    let design = ux(&analysis, &requirements, &made, None);
    let ux_text = ux_markdown(&analysis, &requirements, &design, None);
    let mut files = vec![file(
        "supabase/migrations/0001_init.sql",
        &crate::sql::schema(&made),
        vec![Trace::entity("Parcel")],
    )];
    for page in &design.pages {
        let path = format!("src/app{}/page.tsx", page.route);
        files.push(file(&path, "export {};\n", vec![Trace::page(&page.name)]));
    }
    Product {
        analysis,
        requirements,
        architecture: made,
        architecture_markdown: markdown,
        ux: design,
        ux_markdown: ux_text,
        files,
    }
}

pub(crate) fn file(path: &str, content: &str, trace: Vec<Trace>) -> GeneratedFile {
    GeneratedFile {
        path: path.to_owned(),
        content: content.to_owned(),
        language: "text".to_owned(),
        sha256: String::new(),
        trace,
    }
}

impl Product {
    /// All outputs.
    pub(crate) fn outputs(&self) -> Outputs<'_> {
        Outputs {
            architecture: Some(&self.architecture),
            architecture_markdown: Some(&self.architecture_markdown),
            ux: Some(&self.ux),
            ux_markdown: Some(&self.ux_markdown),
            files: Some(&self.files),
            ..Outputs::new(&self.analysis, &self.requirements)
        }
    }
}
