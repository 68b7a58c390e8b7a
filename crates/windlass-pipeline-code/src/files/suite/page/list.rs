//! Tests of lists: what is shown, when nothing is there, when it cannot be had.

use super::super::case;
use super::Draftsman;
use crate::blueprint::Operation;
use crate::escape::ts_string;

impl Draftsman<'_, '_> {
    pub(super) fn list(&mut self, at: usize, recent: bool) {
        let entity = &self.blueprint.entities[at];
        self.give_lists(&[at]);
        let list = self.function(entity, Operation::List);
        let sample = self.sample(entity);
        let title = entity
            .columns()
            .first()
            .and_then(|field| self.shown(at, field));
        let mut lines = vec![self.render()];
        lines.push(format!(
            "const table = await screen.findByRole(\"table\", {{ name: {} }});",
            ts_string(&entity.label_plural)
        ));
        if let Some(title) = &title {
            lines.push(format!("expect(table.textContent).toContain({title});"));
        } else {
            lines.push("expect(table.querySelectorAll(\"tbody tr\").length).toBe(1);".to_owned());
        }
        let trace = self.page.trace.clone();
        let what = if recent { "shows the newest" } else { "shows" };
        self.cases.push(case(
            self.blueprint,
            &trace,
            &format!("{what} {}", entity.human_plural),
            lines,
        ));
        let render = self.render();
        self.case(
            &format!("says so when there are no {}", entity.human_plural),
            vec![
                format!("vi.mocked({list}).mockResolvedValue([]);"),
                render.clone(),
                format!(
                    "expect(await screen.findByText({})).toBeTruthy();",
                    ts_string(&format!("No {} yet", entity.human_plural))
                ),
            ],
        );
        self.case(
            &format!("says why {} cannot be loaded and tries again", entity.human_plural),
            vec![
                format!("vi.mocked({list}).mockRejectedValue(new Error(\"The network is down.\"));"),
                render,
                "expect((await screen.findAllByRole(\"alert\")).map((alert) => alert.textContent).join()).toContain(\"The network is down.\");".to_owned(),
                format!("vi.mocked({list}).mockResolvedValue([{sample}]);"),
                "screen.getAllByRole(\"button\", { name: \"Try again\" }).forEach((button) => fireEvent.click(button));".to_owned(),
                format!("expect(await screen.findByRole(\"table\", {{ name: {} }})).toBeTruthy();", ts_string(&entity.label_plural)),
            ],
        );
    }
}
