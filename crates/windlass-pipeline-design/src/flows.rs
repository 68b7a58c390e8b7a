//! User flows: per actor and goal, from the first page through the requirements to success.

use crate::actor::{self, Actor};
use crate::model::analysis::{Analysis, Statement, VerbKind};
use crate::model::strategy::Priority;
use crate::model::ux::{UserFlow, UxPage};
use crate::model::{Trace, naming};
use crate::pages::Site;
use crate::placement::Placed;
use crate::stated_pages::Kind;
use crate::traces;

/// The goal of a flow: an entity, signing in, or whatever the behaviour is about.
fn goal(statement: &Statement) -> String {
    match (&statement.entity, statement.kind, &statement.object) {
        (_, VerbKind::SignUp, _) => "Registration".to_owned(),
        (_, VerbKind::SignIn, _) => "Sign-in".to_owned(),
        (Some(entity), _, _) => naming::sentence(entity),
        (None, _, Some(object)) if !object.head.is_empty() => naming::sentence(&object.head),
        _ => naming::sentence(&statement.verb),
    }
}

fn step(page: &UxPage, text: &str) -> String {
    format!("{}: {text}", page.name)
}

/// The flows, in the order of their first requirement.
pub(crate) fn flows(analysis: &Analysis, site: &Site, placed: &[Placed<'_>]) -> Vec<UserFlow> {
    let mut groups: Vec<(Option<&str>, String, Vec<&Placed<'_>>)> = Vec::new();
    for one in placed {
        let by_product = actor::of_statement(analysis, one.statement) == Actor::Product;
        if by_product || one.statement.kind == VerbKind::Keep {
            continue;
        }
        let actor = one.statement.actor.as_deref();
        let goal = goal(one.statement);
        match groups
            .iter_mut()
            .find(|(known, about, _)| *known == actor && *about == goal)
        {
            Some((_, _, all)) => all.push(one),
            None => groups.push((actor, goal, vec![one])),
        }
    }
    let mut flows: Vec<UserFlow> = Vec::new();
    for (who, goal, all) in groups {
        // What only must not happen is nobody's goal.
        let possible = || all.iter().filter(|one| !one.statement.negated);
        let Some(success) = possible()
            .rfind(|one| one.statement.priority == Priority::Must)
            .or_else(|| possible().next_back())
        else {
            continue;
        };
        let home = &site.pages[site.home()];
        let mut steps = vec![home.name.clone()];
        let signed_in = !matches!(actor::of_name(who), Actor::Anybody);
        let signs_in = matches!(goal.as_str(), "Registration" | "Sign-in");
        if let Some(at) = site
            .find(Kind::SignIn, None)
            .filter(|_| signed_in && !signs_in)
        {
            steps.push(site.pages[at].name.clone());
        }
        let mut trace = Vec::new();
        for one in &all {
            let statement = one.statement;
            traces::add(&mut trace, Trace::requirement(&statement.requirement));
            let page = &site.pages[one.page];
            if statement.negated {
                steps.push(step(page, &format!("not possible: {}", statement.text)));
                continue;
            }
            let next = step(page, &statement.text);
            // One requirement may be several actions on the same page.
            if !steps.contains(&next) {
                steps.push(next);
            }
            if let Some(condition) = &statement.condition {
                steps.push(step(
                    page,
                    &format!("otherwise an error says why ({condition})"),
                ));
            }
        }
        steps.push(format!("Success: {}", success.statement.text));
        let mut name = match who {
            Some(who) => format!("{goal} flow ({who})"),
            None => format!("{goal} flow"),
        };
        let base = name.clone();
        let mut number = 2;
        while flows.iter().any(|flow| flow.name == name) {
            name = format!("{base} {number}");
            number += 1;
        }
        flows.push(UserFlow {
            name,
            steps,
            actor: who.map(str::to_owned),
            trace,
        });
    }
    flows
}
