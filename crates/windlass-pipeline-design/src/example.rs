//! Small analyses for tests, one line per statement.

use crate::model::analysis::{
    Access, AccessRule, Analysis, Entity, Noun, Place, Relation, Role, Span, SpanClass, Stated,
    StatedColour, StatedField, StatedValue, Statement, VerbKind,
};
use crate::model::architecture::{FieldType, RelationType};
use crate::model::strategy::{Functional, Priority};
use crate::model::{Requirements, Trace, naming};

/// An analysis in the making: every call adds a span and what it says.
#[derive(Debug, Default)]
pub(crate) struct Example {
    pub(crate) analysis: Analysis,
}

impl Example {
    pub(crate) fn span(&mut self, text: &str, class: SpanClass) -> Vec<String> {
        let id = format!("S-{}", self.analysis.spans.len() + 1);
        let start = self.analysis.spans.last().map_or(0, |span| span.end + 1);
        self.analysis.spans.push(Span {
            id: id.clone(),
            start,
            end: start + text.len(),
            text: text.to_owned(),
            place: Place::Sentence,
            heading: None,
            class,
            dropped: None,
        });
        vec![id]
    }

    /// `Quiz: title, status (draft, published)`.
    pub(crate) fn entity(mut self, line: &str) -> Self {
        let spans = self.span(line, SpanClass::Behaviour);
        let (name, fields) = line.split_once(':').unwrap_or((line, ""));
        let mut depth = 0;
        let fields: Vec<String> = fields
            .split(|c| {
                depth += i32::from(c == '(') - i32::from(c == ')');
                c == ',' && depth == 0
            })
            .map(|field| field.trim().to_owned())
            .filter(|field| !field.is_empty())
            .collect();
        let fields = fields
            .iter()
            .map(|field| {
                let (name, values) = field.split_once('(').unwrap_or((field, ""));
                let values: Vec<String> = values
                    .trim_end_matches(')')
                    .split(',')
                    .map(|value| value.trim().to_owned())
                    .filter(|value| !value.is_empty())
                    .collect();
                StatedField {
                    name: naming::snake(name),
                    text: name.trim().to_owned(),
                    kind: if values.is_empty() {
                        FieldType::String
                    } else {
                        FieldType::Enum
                    },
                    values,
                    unique: false,
                    optional: false,
                    spans: spans.clone(),
                }
            })
            .collect();
        self.analysis.entities.push(Entity {
            name: name.trim().to_owned(),
            spans,
            fields,
            synonyms: Vec::new(),
        });
        self
    }

    pub(crate) fn relation(mut self, from: &str, to: &str, kind: RelationType) -> Self {
        let spans = self.span(&format!("{from} {to}"), SpanClass::Behaviour);
        self.analysis.relations.push(Relation {
            from: from.to_owned(),
            to: to.to_owned(),
            kind,
            spans,
        });
        self
    }

    /// `teacher creates their quizzes`: actor, verb, object; the entity is looked up.
    pub(crate) fn says(self, actor: &str, kind: VerbKind, verb: &str, object: &str) -> Self {
        self.says_so(actor, kind, verb, object, |_| {})
    }

    pub(crate) fn says_so(
        mut self,
        actor: &str,
        kind: VerbKind,
        verb: &str,
        object: &str,
        change: impl FnOnce(&mut Statement),
    ) -> Self {
        let text = format!("{actor} {verb} {object}").trim().to_owned();
        let spans = self.span(&text, SpanClass::Behaviour);
        let words = naming::words(object);
        let last = words.last().cloned().unwrap_or_default();
        let head = naming::singular(&last);
        let entity = self
            .analysis
            .entities
            .iter()
            .map(|entity| entity.name.clone())
            .find(|name| naming::words(name).last() == Some(&head));
        let mut statement = Statement {
            requirement: format!("FR-{}", self.analysis.statements.len() + 1),
            text,
            spans: spans.clone(),
            actor: (!actor.is_empty()).then(|| actor.to_owned()),
            verb: verb.to_owned(),
            kind,
            object: (!object.is_empty()).then(|| Noun {
                plural: naming::is_plural(&last),
                head,
                text: object.to_owned(),
                own: words.iter().any(|word| word == "their" || word == "own"),
            }),
            entity,
            indirect: None,
            condition: None,
            negated: false,
            priority: Priority::Must,
        };
        change(&mut statement);
        let generic = matches!(actor, "" | "user" | "system" | "visitor");
        if !generic && !self.analysis.roles.iter().any(|role| role.name == actor) {
            self.analysis.roles.push(Role {
                name: actor.to_owned(),
                spans,
            });
        }
        self.analysis.statements.push(statement);
        self
    }

    pub(crate) fn rule(self, entity: &str, rule: Access) -> Self {
        self.rule_when(entity, rule, None)
    }

    pub(crate) fn rule_when(
        mut self,
        entity: &str,
        rule: Access,
        only_when: Option<(&str, &str)>,
    ) -> Self {
        let spans = self.span("a rule", SpanClass::Behaviour);
        self.analysis.access.push(AccessRule {
            entity: (!entity.is_empty()).then(|| entity.to_owned()),
            rule,
            only_when: only_when.map(|(field, value)| StatedValue {
                field: field.to_owned(),
                value: value.to_owned(),
            }),
            spans,
        });
        self
    }

    pub(crate) fn page(mut self, name: &str) -> Self {
        let spans = self.span(name, SpanClass::Design);
        self.analysis.pages.push(Stated {
            text: name.to_owned(),
            spans,
        });
        self
    }

    pub(crate) fn style(mut self, text: &str) -> Self {
        let spans = self.span(text, SpanClass::Design);
        self.analysis.styles.push(Stated {
            text: text.to_owned(),
            spans,
        });
        self
    }

    pub(crate) fn colour(mut self, text: &str, value: &str, role: &str) -> Self {
        let spans = self.span(text, SpanClass::Design);
        self.analysis.colours.push(StatedColour {
            text: text.to_owned(),
            value: value.to_owned(),
            role: role.to_owned(),
            spans,
        });
        self
    }

    pub(crate) fn requirements(&self) -> Requirements {
        let functional = self.analysis.statements.iter().map(|statement| Functional {
            id: statement.requirement.clone(),
            description: statement.text.clone(),
            priority: statement.priority,
            acceptance: vec![format!("Then {}", statement.text)],
            trace: statement
                .spans
                .iter()
                .map(|span| Trace::spec(span))
                .collect(),
        });
        Requirements {
            functional: functional.collect(),
            ..Requirements::default()
        }
    }
}

/// Teachers and students, with parts, a restriction, an action and something out of scope.
pub(crate) fn quizzes() -> Example {
    Example::default()
        .entity("Quiz: title, status (draft, published)")
        .entity("Question: text")
        .entity("Attempt: score")
        .relation("Quiz", "Question", RelationType::OneToMany)
        .relation("Quiz", "Attempt", RelationType::OneToMany)
        .says("teacher", VerbKind::Create, "create", "their quizzes")
        .says("teacher", VerbKind::Update, "edit", "their quizzes")
        .says("teacher", VerbKind::Other, "publish", "a quiz")
        .says("student", VerbKind::List, "browse", "published quizzes")
        .says("student", VerbKind::Create, "start", "an attempt")
        .says_so(
            "student",
            VerbKind::Delete,
            "delete",
            "attempts",
            |statement| {
                statement.negated = true;
            },
        )
        .says_so(
            "teacher",
            VerbKind::List,
            "view",
            "the attempts on their quizzes",
            |statement| {
                statement.entity = Some("Attempt".to_owned());
                statement.indirect = Some("Quiz".to_owned());
            },
        )
        .says("", VerbKind::SignIn, "sign in", "")
        .says_so("system", VerbKind::Other, "send", "an email", |_| {})
        .says_so(
            "student",
            VerbKind::Other,
            "play",
            "multiplayer quizzes",
            |statement| {
                statement.priority = Priority::Wont;
            },
        )
        .page("Quiz Editor")
        .page("Dashboard")
        .colour("dark green", "#006400", "primary")
}
