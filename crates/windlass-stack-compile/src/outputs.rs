//! Outputs: what users ask for, and every parameter of every resource as far as there is room.

use serde_json::json;
use windlass_stack_config::referenceable_params;

use crate::cf;
use crate::compiled::Output;
use crate::name::logical;
use crate::refusal::Refusal;
use crate::stack::Stack;
use crate::text::Tie;

/// The most outputs a stack can have.
const LIMIT: usize = 200;

impl Stack<'_> {
    pub fn all_outputs(&mut self) {
        self.own_outputs();
        let mut params: Vec<(usize, String, &'static str)> = Vec::new();
        for (name, kind) in self.each() {
            for param in referenceable_params(kind).into_iter().flatten() {
                params.push((rank(param), name.to_owned(), param));
            }
        }
        // Addresses first: they are what people look for, and what cannot be worked out.
        params.sort();
        let mut left_out = 0;
        for (_, resource, param) in params {
            let Some(value) = self.try_param(&resource, param, Tie::Firm) else {
                continue;
            };
            if cf::holds_secret(&value) || !self.leads_somewhere(&value) {
                continue;
            }
            let id = logical(&[&resource, param]);
            if self.outputs.contains_key(&id) {
                continue;
            }
            if self.outputs.len() >= LIMIT {
                left_out += 1;
                continue;
            }
            let origin = Output::Param {
                resource,
                param: param.to_owned(),
            };
            self.outputs.insert(id, (value, origin));
        }
        if left_out > 0 {
            self.warn(
                "stackConfig.outputs",
                format!("{left_out} parameters are not outputs: a stack has at most {LIMIT}"),
            );
        }
    }

    fn own_outputs(&mut self) {
        let config = self.config;
        for (index, output) in config.stack_config.outputs.iter().enumerate() {
            let value = self.text(&output.value);
            let id = logical(&[&output.name]);
            let refusal = match (id.is_empty(), self.outputs.get(&id)) {
                (true, _) => Some("an output's name needs letters or digits".to_owned()),
                (_, Some((_, Output::Own { name }))) => Some(format!(
                    "the outputs \"{name}\" and \"{}\" have the same id \"{id}\"",
                    output.name
                )),
                _ if cf::holds_secret(&value) => {
                    Some("an output shows its value; a secret cannot be one".to_owned())
                }
                _ => None,
            };
            if let Some(message) = refusal {
                self.refusals.push(Refusal {
                    path: vec![
                        "stackConfig".to_owned(),
                        "outputs".to_owned(),
                        index.to_string(),
                    ],
                    message,
                    suggestion: None,
                });
                continue;
            }
            let mut entry = json!({ "Value": value });
            if let Some(description) = &output.description {
                entry["Description"] = json!(description);
            }
            if output.export {
                let export = format!("{}-{}", self.facts.stack_name(), output.name);
                entry["Export"] = json!({ "Name": export });
            }
            let origin = Output::Own {
                name: output.name.clone(),
            };
            self.outputs.insert(id, (entry, origin));
        }
    }
}

fn rank(param: &str) -> usize {
    const ORDER: [&str; 7] = ["url", "domain", "host", "id", "clientId", "name", "arn"];
    let lower = param.to_lowercase();
    ORDER
        .iter()
        .position(|known| lower.ends_with(&known.to_lowercase()))
        .unwrap_or(ORDER.len())
}
