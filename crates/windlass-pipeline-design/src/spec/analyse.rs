//! The whole reading of a spec, put together.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{
    Analysis,
    analysis::{Place, Role, Span, SpanClass, Statement, VerbKind},
    strategy::Priority,
};
use crate::spec::{
    bounds, classify,
    context::SpecContext,
    find::{
        access, appearance, entities, integrations, names, numbers, pages, palette, relations, weak,
    },
    reading::{self, Reading, Readings},
    section::Section,
    settle,
    statements::{self, Draft},
};

/// Reads a spec. The context never makes a requirement; it is taken so that a caller need not
/// know that.
pub fn analyse(spec: &str, _context: &SpecContext) -> Analysis {
    let Readings {
        all: readings,
        people,
    } = reading::read(spec);
    let product = names::product(&readings);
    let colours = palette::find(&readings);
    let coloured: BTreeSet<&String> = colours.iter().flat_map(|colour| &colour.spans).collect();
    let classes: Vec<SpanClass> = readings
        .iter()
        .map(|reading| classify::classify(reading, &people, coloured.contains(&reading.id)))
        .collect();

    let mut drafts: Vec<Draft> = Vec::new();
    let mut analysis = Analysis::default();
    for (index, reading) in readings.iter().enumerate() {
        match classes[index] {
            SpanClass::Behaviour => {
                let product = product.as_ref().map(|product| product.text.as_str());
                drafts.extend(statements::drafts(reading, index, &people, product));
            }
            SpanClass::Quality => analysis.qualities.push(bounds::quality(reading)),
            SpanClass::Constraint => {
                let (bounds, qualities) = bounds::bounds(reading);
                analysis.bounds.extend(bounds);
                analysis.qualities.extend(qualities);
            }
            SpanClass::Design | SpanClass::Context => {}
        }
    }
    settle::uses(&mut drafts);
    let kept = entities::kept(&readings, &drafts);
    let product_name = product.as_ref().map(|product| product.text.as_str());
    let mut found = entities::find(&readings, &drafts, &kept, &people, product_name);
    analysis.relations = relations::find(&readings, &drafts, &kept, &people, &mut found);
    let (merged, twice) = merge(&readings, &drafts, &found);
    number(&mut analysis);
    let (mut statements, sources) = finish(&merged, &drafts, &found);
    settle::makers(&mut statements);
    let said: Vec<access::Said<'_>> = statements
        .iter()
        .zip(&sources)
        .map(|(statement, source)| access::Said {
            statement,
            draft: &drafts[*source],
        })
        .collect();
    analysis.access = access::find(&said, &readings, &people, &found, &analysis.relations);
    relations::link_tenants(&analysis.access, &mut analysis.relations);
    analysis.weaknesses = weak::find(&readings, &statements, &analysis.qualities, &twice);
    analysis.sign_in = readings
        .iter()
        .filter(|reading| {
            !reading.is_set_aside() && !classify::addresses_reader(reading) && says_sign_in(reading)
        })
        .map(|reading| reading.id.clone())
        .collect();
    analysis.names = names::find(&readings, product.as_ref());
    analysis.product = product;
    analysis.colours = colours;
    analysis.fonts = appearance::fonts(&readings);
    analysis.styles = appearance::styles(&readings);
    analysis.pages = pages::find(&readings);
    analysis.numbers = numbers::find(&readings);
    analysis.integrations = integrations::find(&readings);
    analysis.roles = people.roles;
    if analysis.roles.is_empty() && !analysis.sign_in.is_empty() {
        analysis.roles.push(Role {
            name: "user".to_owned(),
            spans: analysis.sign_in.clone(),
        });
    }
    analysis.entities = found.all;
    analysis.statements = statements;
    analysis.spans = spans(&readings, &classes, &analysis);
    analysis
}

/// Sign-in is stated by its words, or by passwords and accounts that users have.
fn says_sign_in(reading: &Reading) -> bool {
    let wont = crate::spec::priority::of(reading, None) == Priority::Wont;
    let phrases = [
        "sign up",
        "signs up",
        "register with",
        "registers with",
        "create an account",
        "their account",
        "with a password",
        "and password",
    ];
    !wont && (crate::spec::sign_in::is_stated(&reading.line) || reading.line.has_any(&phrases))
}

/// A draft with every place it is said at.
struct Merged {
    draft: usize,
    text: String,
    spans: Vec<String>,
}

/// Requirements that are said more than once, with their places.
type Twice = Vec<(String, Vec<String>)>;

/// Joins statements of which one says no more than the other.
fn merge(
    readings: &[Reading],
    drafts: &[Draft],
    entities: &entities::Entities,
) -> (Vec<Merged>, Twice) {
    let mut merged: Vec<Merged> = Vec::new();
    let mut last: BTreeMap<String, usize> = BTreeMap::new();
    let mut equal: BTreeSet<usize> = BTreeSet::new();
    for (index, draft) in drafts.iter().enumerate() {
        let span = readings[draft.reading].id.clone();
        let object = entities.of(&draft.object).unwrap_or(&draft.object.name);
        let key = format!(
            "{:?}|{}|{object}|{}|{:?}|{:?}",
            draft.actor, draft.verb, draft.negated, draft.priority, draft.kind
        );
        let words = content_words(&draft.text);
        if let Some(at) = last.get(&key).copied() {
            let known = &mut merged[at];
            let before = content_words(&known.text);
            if words.is_subset(&before) || before.is_subset(&words) {
                if words == before {
                    equal.insert(at);
                }
                if words.len() > before.len() {
                    known.text.clone_from(&draft.text);
                    known.draft = index;
                }
                if known.spans.last() != Some(&span) {
                    known.spans.push(span);
                }
                continue;
            }
        }
        last.insert(key, merged.len());
        merged.push(Merged {
            draft: index,
            text: draft.text.clone(),
            spans: vec![span],
        });
    }
    let twice = equal
        .into_iter()
        .filter(|at| merged[*at].spans.len() > 1)
        .map(|at| (format!("FR-{}", at + 1), merged[at].spans.clone()))
        .collect();
    (merged, twice)
}

/// The words that carry meaning: two texts with the same ones say the same. `own` and `not` do.
pub fn content_words(text: &str) -> BTreeSet<String> {
    crate::spec::token::tokens(text)
        .into_iter()
        .filter(|token| token.kind != crate::spec::token::Kind::Mark)
        .filter(|token| {
            !token.has(crate::spec::lexicon::small::Tags::DETERMINER)
                && !token.is_any(&["can", "also", "want", "to"])
        })
        .map(|token| {
            token.verb.as_ref().map_or_else(
                || crate::model::naming::singular(&token.lower),
                |verb| verb.base.clone(),
            )
        })
        .collect()
}

/// Statements with ids and entities; `manage` becomes four of one requirement.
fn finish(
    merged: &[Merged],
    drafts: &[Draft],
    entities: &entities::Entities,
) -> (Vec<Statement>, Vec<usize>) {
    let mut statements = Vec::new();
    let mut sources = Vec::new();
    for (index, merged) in merged.iter().enumerate() {
        let draft = &drafts[merged.draft];
        let wont = draft.priority == Priority::Wont;
        let entity = entities
            .of(&draft.object)
            .filter(|_| !wont)
            .map(str::to_owned);
        let made = entities
            .named(&draft.verb)
            .filter(|made| {
                !wont && draft.kind == VerbKind::Other && Some(*made) != entity.as_deref()
            })
            .map(str::to_owned);
        let indirect = draft
            .others
            .iter()
            .filter_map(|(_, other)| entities.of(other))
            .find(|other| !wont && Some(*other) != entity.as_deref())
            .map(str::to_owned);
        // `comment on an article` makes a comment.
        let (entity, indirect, kind) = match made {
            Some(made) => (Some(made), entity, VerbKind::Create),
            None => (entity, indirect, draft.kind),
        };
        let kinds: &[VerbKind] = if draft.manages && entity.is_some() {
            &[
                VerbKind::List,
                VerbKind::Create,
                VerbKind::Update,
                VerbKind::Delete,
            ]
        } else {
            std::slice::from_ref(&kind)
        };
        for kind in kinds {
            sources.push(merged.draft);
            statements.push(Statement {
                requirement: format!("FR-{}", index + 1),
                text: merged.text.clone(),
                spans: merged.spans.clone(),
                actor: draft.actor.clone(),
                verb: draft.verb.clone(),
                kind: *kind,
                object: (!draft.object.is_empty()).then(|| draft.object.as_noun()),
                entity: entity.clone(),
                indirect: indirect.clone(),
                condition: draft.condition.clone(),
                negated: draft.negated,
                priority: draft.priority,
            });
        }
    }
    (statements, sources)
}

fn number(analysis: &mut Analysis) {
    for (index, quality) in analysis.qualities.iter_mut().enumerate() {
        quality.requirement = format!("NFR-{}", index + 1);
    }
    for (index, bound) in analysis.bounds.iter_mut().enumerate() {
        bound.requirement = format!("CON-{}", index + 1);
    }
}

/// The spans, with the reason why a span led to nothing.
fn spans(readings: &[Reading], classes: &[SpanClass], analysis: &Analysis) -> Vec<Span> {
    let stated: BTreeSet<&str> = analysis
        .statements
        .iter()
        .flat_map(|statement| &statement.spans)
        .map(String::as_str)
        .collect();
    let used = used(analysis);
    readings
        .iter()
        .zip(classes)
        .map(|(reading, class)| {
            let class = match class {
                SpanClass::Behaviour if !stated.contains(reading.id.as_str()) => SpanClass::Context,
                class => *class,
            };
            let dropped =
                (!used.contains(reading.id.as_str())).then(|| reason(reading, class).to_owned());
            Span {
                id: reading.id.clone(),
                start: reading.piece.start,
                end: reading.piece.end,
                text: reading.piece.text.clone(),
                place: reading.piece.place,
                heading: reading
                    .piece
                    .heading
                    .clone()
                    .filter(|_| reading.piece.place != Place::Heading),
                class,
                dropped,
            }
        })
        .collect()
}

/// Ids of all spans that led to something.
fn used(analysis: &Analysis) -> BTreeSet<&str> {
    let stated = [&analysis.pages, &analysis.fonts, &analysis.styles];
    analysis
        .statements
        .iter()
        .flat_map(|item| &item.spans)
        .chain(analysis.qualities.iter().flat_map(|item| &item.spans))
        .chain(analysis.bounds.iter().flat_map(|item| &item.spans))
        .chain(analysis.roles.iter().flat_map(|item| &item.spans))
        .chain(analysis.entities.iter().flat_map(|item| &item.spans))
        .chain(analysis.relations.iter().flat_map(|item| &item.spans))
        .chain(analysis.access.iter().flat_map(|item| &item.spans))
        .chain(analysis.colours.iter().flat_map(|item| &item.spans))
        .chain(analysis.integrations.iter().flat_map(|item| &item.spans))
        .chain(stated.into_iter().flatten().flat_map(|item| &item.spans))
        .chain(analysis.product.iter().flat_map(|item| &item.spans))
        .map(String::as_str)
        .collect()
}

fn reason(reading: &Reading, class: SpanClass) -> &'static str {
    if let Some(reason) = reading.piece.set_aside {
        return reason;
    }
    if reading.piece.place == Place::Heading {
        return "a heading";
    }
    if classify::addresses_reader(reading) {
        return "addresses the reader of the spec, not the product";
    }
    if reading.text.ends_with('?') {
        return "a question; see the open questions";
    }
    if reading.text.ends_with(':') {
        return "announces what follows";
    }
    if class == SpanClass::Design {
        return "names no colour, font, style or page";
    }
    let named = crate::spec::phrase::read(&reading.text, &reading.tokens);
    let names_product = crate::spec::lexicon::nouns::is_product(named.head(), "the");
    if reading.section() == Section::Goal || !reading.clauses.is_empty() || names_product {
        return "says why or for whom, not what the product does";
    }
    "no rule reads a behaviour, a quality, a bound or data from it"
}
