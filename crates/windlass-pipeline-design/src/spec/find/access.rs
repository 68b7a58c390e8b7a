//! Who may do what with which entity, as stated.
//!
//! Owner by default is not said here: only what the spec says is.

use std::collections::{BTreeMap, BTreeSet};

use super::entities::Entities;
use crate::model::{
    analysis::{Access, AccessRule, Relation, StatedValue, Statement, VerbKind},
    strategy::Priority,
};
use crate::spec::{
    lexicon::{line::Line, nouns},
    people::People,
    phrase::Phrase,
    reading::Reading,
    statements::Draft,
};

/// Verbs that change a thing though they are no update by name.
const CHANGES: &[&str] = &[
    "approve",
    "confirm",
    "cancel",
    "move",
    "publish",
    "deactivate",
    "activate",
    "archive",
    "suspend",
    "reject",
    "assign",
    "restore",
    "decline",
    "close",
    "reopen",
    "accept",
    "reschedule",
    "ban",
    "block",
    "merge",
    "promote",
    "unpublish",
    "verify",
    "ship",
    "fulfil",
    "fulfill",
    "process",
    "resolve",
    "complete",
    "lock",
    "unlock",
    "grade",
    "invite",
];

/// Verbs for things that are there for many: who does that can see them.
const USES: &[&str] = &[
    "apply",
    "bookmark",
    "comment",
    "compare",
    "download",
    "duplicate",
    "enrol",
    "enroll",
    "export",
    "favorite",
    "favourite",
    "follow",
    "like",
    "mark",
    "print",
    "rate",
    "review",
    "share",
    "subscribe",
    "take",
    "vote",
    "register",
    "play",
    "attend",
];

/// Roles of people who are not signed in.
const OUTSIDE: &[&str] = &["visitor", "guest", "anonymous user", "public", "anyone"];

/// A final statement with the draft it is from.
pub struct Said<'a> {
    /// The statement.
    pub statement: &'a Statement,
    /// Its draft.
    pub draft: &'a Draft,
}

/// All rules, in the order of the text.
pub fn find(
    said: &[Said<'_>],
    readings: &[Reading],
    people: &People,
    entities: &Entities,
    relations: &[Relation],
) -> Vec<AccessRule> {
    let facts = Facts::of(said, relations);
    let mut rules = Rules::default();
    for said in said {
        let statement = said.statement;
        if statement.priority == Priority::Wont || statement.negated {
            continue;
        }
        let reading = &readings[said.draft.reading];
        let line = Line::new(&statement.text);
        let Some(entity) = statement.entity.as_deref() else {
            everything(said, &line, people, &mut rules);
            continue;
        };
        if statement.kind == VerbKind::Keep {
            continue;
        }
        if let Some((rule, firm)) = facts.rule(said, entity, &line, people, entities) {
            let only_when = condition(entity, &said.draft.object, entities);
            rules.add(Some(entity), rule, only_when, &reading.id, firm);
        }
    }
    rules.settled()
}

/// `Auditors have read-only access to everything`
fn everything(said: &Said<'_>, line: &Line, people: &People, rules: &mut Rules) {
    let all = line.has_any(&["everything", "all data", "all records", "all content"]);
    let Some(role) = said
        .statement
        .actor
        .as_deref()
        .and_then(|actor| people.role(actor))
    else {
        return;
    };
    if !all {
        return;
    }
    let id = said.statement.spans.first().map_or("", String::as_str);
    let rule = match said.statement.kind {
        VerbKind::Read | VerbKind::List => Access::RoleRead(role.to_owned()),
        _ => Access::RoleAll(role.to_owned()),
    };
    rules.add(None, rule, None, id, true);
}

/// `published articles`, `drafts`: the rows with that value.
fn condition(entity: &str, object: &Phrase, entities: &Entities) -> Option<StatedValue> {
    let head = crate::model::naming::singular(object.head());
    object
        .adjectives
        .iter()
        .map(String::as_str)
        .chain([head.as_str()])
        .find_map(|word| {
            entities
                .field_of_value(entity, word)
                .map(|(field, value)| StatedValue { field, value })
        })
}

/// What the whole spec says, needed to judge one sentence.
struct Facts<'a> {
    /// Role and entity where the role is said to have its own ones.
    own: BTreeSet<(String, String)>,
    /// Role and entity where something is forbidden.
    forbidden: BTreeSet<(String, String)>,
    /// Who creates an entity.
    makers: BTreeMap<String, BTreeSet<String>>,
    /// Entities by the role's entity they hold: a workspace and its members.
    relations: BTreeSet<(&'a str, &'a str)>,
}

impl<'a> Facts<'a> {
    fn of(said: &[Said<'_>], relations: &'a [Relation]) -> Self {
        let mut facts = Facts {
            own: BTreeSet::new(),
            forbidden: BTreeSet::new(),
            makers: BTreeMap::new(),
            relations: relations
                .iter()
                .map(|relation| (relation.from.as_str(), relation.to.as_str()))
                .collect(),
        };
        for said in said {
            let statement = said.statement;
            let (Some(actor), Some(entity)) = (&statement.actor, &statement.entity) else {
                continue;
            };
            if statement.priority == Priority::Wont {
                continue;
            }
            let key = (actor.clone(), entity.clone());
            if statement.negated {
                if matches!(statement.kind, VerbKind::Update | VerbKind::Delete) {
                    facts.forbidden.insert(key);
                }
                continue;
            }
            if statement.object.as_ref().is_some_and(|object| object.own) {
                facts.own.insert(key);
            }
            if statement.kind == VerbKind::Create {
                facts
                    .makers
                    .entry(entity.clone())
                    .or_default()
                    .insert(actor.clone());
            }
        }
        facts
    }

    fn rule(
        &self,
        said: &Said<'_>,
        entity: &str,
        line: &Line,
        people: &People,
        entities: &Entities,
    ) -> Option<(Access, bool)> {
        let firm = |rule: Access| Some((rule, true));
        let statement = said.statement;
        let reads = matches!(statement.kind, VerbKind::Read | VerbKind::List);
        let own = statement.object.as_ref().is_some_and(|object| object.own);
        let state = said.draft.state.as_deref();
        if state == Some("private") && statement.actor.is_none() {
            return firm(Access::Owner);
        }
        if reads && (state == Some("public") || self.is_for_all(statement, line)) {
            return firm(Access::PublicRead);
        }
        if line.has_any(&[
            "who added",
            "who created",
            "who made",
            "who wrote",
            "who posted",
            "who uploaded",
        ]) {
            return firm(Access::Owner);
        }
        if let Some(group) = group_of(statement, entities).filter(|group| reads && *group != entity)
        {
            return firm(Access::Members(group.to_owned()));
        }
        let actor = statement.actor.as_deref()?;
        if OUTSIDE.contains(&actor) {
            return reads.then_some((Access::PublicRead, true));
        }
        if own || nouns::is_maker(actor) {
            return (statement.kind != VerbKind::Create).then_some((Access::Owner, true));
        }
        if let Some(rule) = self.through_another(said, entity, entities) {
            return firm(rule);
        }
        let role = people.role(actor)?.to_owned();
        if reads && of_own_people(said, entity, entities) {
            return None;
        }
        if said.draft.manages {
            return firm(Access::RoleAll(role));
        }
        let key = (actor.to_owned(), entity.to_owned());
        if self.own.contains(&key) {
            return None;
        }
        if reads {
            // Who alone makes such things reads the own ones, unless all are stated.
            let all = state.is_some() || said.draft.object.all || !self.makes_alone(actor, entity);
            return all.then_some((Access::RoleRead(role), true));
        }
        let changes = matches!(statement.kind, VerbKind::Update | VerbKind::Delete)
            || CHANGES.contains(&statement.verb.as_str());
        if !changes || self.forbidden.contains(&key) {
            let reads_first =
                USES.contains(&statement.verb.as_str()) && !self.makes_alone(actor, entity);
            return reads_first.then_some((Access::RoleRead(role), false));
        }
        // What is changed is decided verb by verb; who changes any row sees any row.
        let any = said.draft.object.all || said.draft.others.iter().any(|(_, other)| other.all);
        any.then_some((Access::RoleRead(role), true))
    }

    /// `Anyone can view events`, but not `everyone in the company`.
    fn is_for_all(&self, statement: &Statement, line: &Line) -> bool {
        let mut words = line.text().split(' ');
        let everybody = matches!(
            words.next(),
            Some("anyone" | "anybody" | "everyone" | "everybody")
        );
        let some = matches!(
            words.next(),
            Some("in" | "of" | "from" | "at" | "on" | "who" | "within")
        );
        statement
            .actor
            .as_deref()
            .is_none_or(|actor| OUTSIDE.contains(&actor))
            && ((everybody && !some) || line.has_any(&["without signing in", "without an account"]))
    }

    /// Whether only that role makes such things: then it owns them.
    fn makes_alone(&self, actor: &str, entity: &str) -> bool {
        self.makers
            .get(entity)
            .is_some_and(|makers| makers.len() == 1 && makers.contains(actor))
    }

    /// `the attempts on their quizzes`, `the articles of their own workspace`.
    fn through_another(
        &self,
        said: &Said<'_>,
        entity: &str,
        entities: &Entities,
    ) -> Option<Access> {
        let (_, parent) = said.draft.others.iter().find(|(preposition, other)| {
            other.own
                && matches!(
                    preposition.as_str(),
                    "of" | "on" | "in" | "for" | "to" | "from" | "within"
                )
        })?;
        let parent = entities.of(parent)?;
        if parent == entity {
            return None;
        }
        let actor_entity = said
            .statement
            .actor
            .as_deref()
            .and_then(|actor| entities.named(actor));
        let member = actor_entity.is_some_and(|actor| self.linked(parent, actor));
        if member {
            return Some(Access::Members(parent.to_owned()));
        }
        let owned = self.linked(parent, entity) && said.statement.kind != VerbKind::Create;
        let person = nouns::is_person(&crate::model::naming::human(parent));
        (owned && !person).then(|| Access::ParentOwner(parent.to_owned()))
    }

    fn linked(&self, from: &str, to: &str) -> bool {
        self.relations.contains(&(from, to))
    }
}

/// `Doctors see the appointments of their own patients`: not all appointments. Whose they are is what
/// the rows say, not what a role says.
fn of_own_people(said: &Said<'_>, entity: &str, entities: &Entities) -> bool {
    said.draft.others.iter().any(|(preposition, other)| {
        other.own
            && matches!(preposition.as_str(), "of" | "on" | "for" | "from")
            && entities.of(other).is_some_and(|parent| parent != entity)
    })
}

/// The household of `Everyone in the household can see all expenses`.
fn group_of<'a>(statement: &Statement, entities: &'a Entities) -> Option<&'a str> {
    let text = &statement.text;
    let rest = [
        "Everyone in ",
        "Everybody in ",
        "Anyone in ",
        "Anybody in ",
        "All members of ",
        "Members of ",
        "People in ",
    ]
    .iter()
    .find_map(|start| text.strip_prefix(start))?;
    let tokens = crate::spec::token::tokens(rest);
    entities.of(&crate::spec::phrase::read(rest, &tokens))
}

#[derive(Default)]
struct Rules {
    all: Vec<AccessRule>,
    firm: Vec<bool>,
    index: BTreeMap<String, usize>,
}

impl Rules {
    /// A rule is firm where access itself is stated, not only an action that needs it.
    fn add(
        &mut self,
        entity: Option<&str>,
        rule: Access,
        only_when: Option<StatedValue>,
        id: &str,
        firm: bool,
    ) {
        let key = format!("{entity:?} {rule:?} {only_when:?}");
        let at = *self.index.entry(key).or_insert_with(|| {
            self.all.push(AccessRule {
                entity: entity.map(str::to_owned),
                rule,
                only_when,
                spans: Vec::new(),
            });
            self.firm.push(false);
            self.all.len() - 1
        });
        self.firm[at] |= firm;
        let spans = &mut self.all[at].spans;
        if spans.last().is_none_or(|last| last != id) {
            spans.push(id.to_owned());
        }
    }

    /// Without rules that another one includes, and without reading that only an action implies
    /// where the spec says what the role may read.
    fn settled(self) -> Vec<AccessRule> {
        let mut firm: BTreeSet<(String, String)> = BTreeSet::new();
        let mut unconditional: BTreeSet<String> = BTreeSet::new();
        let place = |rule: &AccessRule| rule.entity.clone().unwrap_or_default();
        for (rule, is_firm) in self.all.iter().zip(&self.firm) {
            if let (Access::RoleRead(role) | Access::RoleAll(role), true) = (&rule.rule, is_firm) {
                firm.insert((place(rule), role.clone()));
            }
            if rule.only_when.is_none() && *is_firm {
                unconditional.insert(format!("{} {:?}", place(rule), rule.rule));
            }
        }
        self.all
            .into_iter()
            .zip(self.firm)
            .filter(|(rule, is_firm)| {
                let wider = |access: &Access| {
                    unconditional.contains(&format!("{} {access:?}", place(rule)))
                };
                let included = rule.only_when.is_some() && wider(&rule.rule);
                let implied = match &rule.rule {
                    Access::RoleRead(role) => {
                        wider(&Access::RoleAll(role.clone()))
                            || (!is_firm && firm.contains(&(place(rule), role.clone())))
                    }
                    _ => false,
                };
                !included && !implied
            })
            .map(|(rule, _)| rule)
            .collect()
    }
}
