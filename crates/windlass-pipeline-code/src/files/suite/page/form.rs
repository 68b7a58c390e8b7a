//! Tests of forms: what is asked, what is refused, what is sent.

use windlass_pipeline_design::model::architecture::FieldType;

use super::super::{case, key, value};
use super::{Draftsman, references};
use crate::blueprint::{Operation, PageKind, Reference};
use crate::escape::{ts_key, ts_string};
use crate::names::kebab;

impl Draftsman<'_, '_> {
    pub(super) fn form(&mut self, at: usize) {
        let entity = &self.blueprint.entities[at];
        let edits = self.page.kind == PageKind::Form
            && self.page.takes_own_id
            && self.page.entity == Some(at);
        if !edits && !entity.has(Operation::Create) {
            return;
        }
        let others = references(entity.inputs());
        self.give_lists(&others);
        let operation = if edits {
            Operation::Update
        } else {
            Operation::Create
        };
        let save = self.function(entity, operation);
        let sample = self.sample(entity);
        self.prepare
            .push(format!("vi.mocked({save}).mockResolvedValue({sample});"));
        if edits {
            let read = self.function(entity, Operation::Read);
            self.prepare
                .push(format!("vi.mocked({read}).mockResolvedValue({sample});"));
        }
        let mut lines = vec![self.render()];
        lines.push(format!(
            "const form = await screen.findByRole(\"form\", {{ name: {} }});",
            ts_string(&entity.label)
        ));
        let mut expected = Vec::new();
        for (place, field) in entity.inputs().enumerate() {
            let given_by_page = self.page.entity == Some(at)
                && self.page.parent.map(Reference::Entity) == field.reference
                && self.page.parent.is_some();
            let stored = value(self.blueprint, at, field).ts();
            if given_by_page {
                expected.push(format!("{}: {stored}", ts_key(&field.column)));
                continue;
            }
            let control = ts_string(&kebab(&field.column, &format!("field-{}", place + 1)));
            match (field.kind, field.reference) {
                (FieldType::Boolean, _) => continue,
                (_, Some(Reference::Entity(other))) => {
                    let other_key = ts_string(&key(self.blueprint, other).unwrap_or_default());
                    lines.push(format!("await waitFor(() => expect(control({control}).querySelector(`option[value=\"${{{other_key}}}\"]`)).not.toBeNull());"));
                }
                _ => {}
            }
            let typed = match field.kind {
                FieldType::Datetime => "\"2026-01-02T09:00\"".to_owned(),
                FieldType::Json => "\"[]\"".to_owned(),
                FieldType::Integer | FieldType::Decimal => ts_string(&stored),
                _ => stored.clone(),
            };
            lines.push(format!(
                "fireEvent.change(control({control}), {{ target: {{ value: {typed} }} }});"
            ));
            if field.kind != FieldType::Datetime {
                expected.push(format!("{}: {stored}", ts_key(&field.column)));
            }
        }
        lines.push("fireEvent.submit(form);".to_owned());
        let arguments = if edits {
            let id = ts_string(&key(self.blueprint, at).unwrap_or_default());
            format!(
                "{id}, expect.objectContaining({{ {} }})",
                expected.join(", ")
            )
        } else {
            format!("expect.objectContaining({{ {} }})", expected.join(", "))
        };
        lines.push(format!(
            "await waitFor(() => expect({save}).toHaveBeenCalledWith({arguments}));"
        ));
        let trace = entity
            .operations
            .get(&operation)
            .cloned()
            .unwrap_or_default();
        self.cases.push(case(
            self.blueprint,
            &trace,
            &format!("saves a {}", entity.human),
            lines,
        ));
        let needed = entity.inputs().find(|field| {
            field.is_required()
                && matches!(field.kind, FieldType::String | FieldType::Text)
                && field.reference.is_none()
        });
        if let Some(field) = needed
            && !edits
        {
            let control = ts_string(&kebab(&field.column, ""));
            let render = self.render();
            self.case(
                &format!("asks for what is missing before a {} is saved", entity.human),
                vec![
                    render,
                    format!("fireEvent.submit(await screen.findByRole(\"form\", {{ name: {} }}));", ts_string(&entity.label)),
                    format!("await waitFor(() => expect(control({control}).getAttribute(\"aria-invalid\")).toBe(\"true\"));"),
                    format!("expect({save}).not.toHaveBeenCalled();"),
                ],
            );
        }
    }
}
