//! Tests of pages about one thing: what is shown of it, what can be done to it.

use super::super::{case, key};
use super::{Draftsman, references};
use crate::blueprint::{ComponentKind, Operation};
use crate::escape::ts_string;

impl Draftsman<'_, '_> {
    pub(super) fn detail(&mut self, at: usize) {
        let entity = &self.blueprint.entities[at];
        let read = self.function(entity, Operation::Read);
        let sample = self.sample(entity);
        self.prepare
            .push(format!("vi.mocked({read}).mockResolvedValue({sample});"));
        let mut others: Vec<usize> = self
            .blueprint
            .entities
            .iter()
            .enumerate()
            .filter(|(child, other)| {
                *child != at
                    && other.reference_to(at).is_some()
                    && self
                        .blueprint
                        .component(&ComponentKind::List(*child))
                        .is_some()
            })
            .map(|(child, _)| child)
            .collect();
        for action in &entity.actions {
            others.extend(references(
                action
                    .inputs
                    .iter()
                    .filter_map(|column| entity.field(column)),
            ));
        }
        others.sort_unstable();
        others.dedup();
        self.give_lists(&others);
        let render = self.render();
        let title = entity.title().and_then(|field| self.shown(at, field));
        let mut lines = vec![render.clone()];
        match &title {
            Some(title) => lines.push(format!("expect(await screen.findByRole(\"heading\", {{ level: 2, name: {title} }})).toBeTruthy();")),
            None => lines.push("expect((await screen.findAllByRole(\"heading\", { level: 2 })).length).toBeGreaterThan(0);".to_owned()),
        }
        let trace = self.page.trace.clone();
        self.cases.push(case(
            self.blueprint,
            &trace,
            &format!("shows one {}", entity.human),
            lines,
        ));
        self.case(
            &format!("says why one {} cannot be loaded", entity.human),
            vec![
                format!("vi.mocked({read}).mockRejectedValue(new Error(\"The network is down.\"));"),
                render.clone(),
                "expect((await screen.findByRole(\"alert\")).textContent).toContain(\"The network is down.\");".to_owned(),
            ],
        );
        let id = ts_string(&key(self.blueprint, at).unwrap_or_default());
        for action in entity
            .actions
            .iter()
            .filter(|action| action.inputs.is_empty())
        {
            self.note(entity, &action.name);
            self.cases.push(case(
                self.blueprint,
                &action.trace,
                &format!("offers to {}", action.label.to_lowercase()),
                vec![
                    format!("vi.mocked({}).mockResolvedValue({sample});", action.name),
                    render.clone(),
                    format!(
                        "fireEvent.click(await screen.findByRole(\"button\", {{ name: {} }}));",
                        ts_string(&action.label)
                    ),
                    format!(
                        "await waitFor(() => expect({}).toHaveBeenCalledWith({id}));",
                        action.name
                    ),
                ],
            ));
        }
        if let Some(trace) = entity.operations.get(&Operation::Delete) {
            let remove = self.function(entity, Operation::Delete);
            self.cases.push(case(
                self.blueprint,
                trace,
                &format!("removes one {} after asking", entity.human),
                vec![
                    format!("vi.mocked({remove}).mockResolvedValue();"),
                    "const confirm = vi.spyOn(window, \"confirm\").mockReturnValue(false);"
                        .to_owned(),
                    render,
                    "const button = await screen.findByRole(\"button\", { name: \"Delete\" });"
                        .to_owned(),
                    "fireEvent.click(button);".to_owned(),
                    format!("expect({remove}).not.toHaveBeenCalled();"),
                    "confirm.mockReturnValue(true);".to_owned(),
                    "fireEvent.click(button);".to_owned(),
                    "await waitFor(() => expect(goTo).toHaveBeenCalled());".to_owned(),
                    format!("expect({remove}).toHaveBeenCalledWith({id});"),
                ],
            ));
        }
    }
}
