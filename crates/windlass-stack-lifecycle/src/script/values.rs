//! What values of the config are in a deployed stack: parameters of its resources, secrets,
//! parameters of the Parameter Store, exports of other stacks.
//!
//! AWS is asked only for what a value needs, and once. Secrets are made known to the redactor as
//! soon as they are read.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use windlass_ports::aws::{ActionShape, SignedCall, Stack, TemplateStage, services};
use windlass_secrets::Redactor;
use windlass_stack_compile::{Facts, parameter};
use windlass_stack_config::{Config, Text};
use windlass_types::{Problem, Secret, code};

use crate::Access;
use crate::fault::Fault;
use crate::script::expression::{Atom, Piece, of_expression, of_text};
use crate::script::failure::{not_found, refused};

const GET_SECRET: ActionShape = ActionShape::new(&services::SECRETSMANAGER, "GetSecretValue");
const GET_PARAMETER: ActionShape = ActionShape::new(&services::SSM, "GetParameter");

/// Who gets to see the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// A program on this machine.
    Program,
    /// Everyone who opens a page: secrets are refused.
    Everybody,
}

/// A value.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The value.
    pub text: Secret<String>,
    /// Whether a secret is in it.
    pub is_secret: bool,
}

/// Where a parameter was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// An output of the stack says it.
    Output,
    /// It was put together.
    Parts,
}

/// Why there is no value.
pub(crate) enum Lack {
    /// The stack has no such resource: the config does not ask for it, or was not deployed yet.
    Resource(String),
    /// The resource is there, but no output says this of it.
    Output { id: String, attribute: String },
    /// Something failed.
    Failed(Problem),
}

impl From<Problem> for Lack {
    fn from(problem: Problem) -> Self {
        Self::Failed(problem)
    }
}

/// Values of a config, looked up as they are asked for.
pub struct Values<'a> {
    access: &'a Access,
    redactor: &'a Redactor,
    config: &'a Config,
    facts: Facts,
    audience: Audience,
    stack: Option<Deployed>,
    resources: Option<BTreeMap<String, String>>,
    attributes: Option<BTreeMap<(String, String), String>>,
    secrets: BTreeMap<String, Secret<String>>,
    parameters: BTreeMap<String, (Secret<String>, bool)>,
    exports: Option<BTreeMap<String, String>>,
    /// Parameters that are something else on this machine: what a tunnel leads to.
    replaced: BTreeMap<(String, String), Resolved>,
}

/// The stack, and what its ARN says.
struct Deployed {
    stack: Stack,
    partition: String,
    region: String,
    account: String,
}

impl<'a> Values<'a> {
    /// Values of the stack the facts name. Asks nothing yet.
    pub fn new(
        access: &'a Access,
        redactor: &'a Redactor,
        config: &'a Config,
        facts: &Facts,
        audience: Audience,
    ) -> Self {
        Self {
            access,
            redactor,
            config,
            facts: facts.clone(),
            audience,
            stack: None,
            resources: None,
            attributes: None,
            secrets: BTreeMap::new(),
            parameters: BTreeMap::new(),
            exports: None,
            replaced: BTreeMap::new(),
        }
    }

    /// From now on a parameter is this text; it is a secret where it was one.
    pub(crate) fn replace(&mut self, resource: &str, param: &str, text: String, is_secret: bool) {
        let value = match is_secret {
            true => self.sealed(text),
            false => plain(&text),
        };
        let key = (resource.to_owned(), param.to_owned());
        self.replaced.insert(key, value);
    }

    /// A text of the config; `what` names it in a failure.
    pub async fn text(&mut self, what: &str, text: &Text) -> Result<Resolved, Problem> {
        let mut joined = Joined::default();
        for piece in of_text(text) {
            match piece {
                Piece::Atom(atom) => {
                    let part = self.atom(&atom).await;
                    joined.add(part.map_err(|lack| self.lacking(what, lack))?);
                }
                Piece::Param { resource, param } => {
                    let part = self.param(&resource, &param).await;
                    joined.add(part.map_err(|lack| self.lacking(what, lack))?.0);
                }
            }
        }
        self.seal(what, joined)
    }

    /// A parameter of a resource: from the stack's outputs, else put together.
    pub(crate) async fn param(
        &mut self,
        resource: &str,
        param: &str,
    ) -> Result<(Resolved, Origin), Lack> {
        let key = (resource.to_owned(), param.to_owned());
        if let Some(value) = self.replaced.get(&key) {
            return Ok((value.clone(), Origin::Output));
        }
        self.deployed().await?;
        let Some(found) = parameter(self.config, &self.facts, resource, param) else {
            let message = format!("the resource \"{resource}\" has no parameter \"{param}\"");
            return Err(refused("unknown_parameter", message)
                .with("resource", resource)
                .with("parameter", param)
                .into());
        };
        let outputs = &self.deployed().await?.stack.outputs;
        if let Some(id) = &found.output
            && let Some(output) = outputs.iter().find(|output| output.output_key == *id)
        {
            return Ok((plain(&output.output_value), Origin::Output));
        }
        let atoms = of_expression(&found.expression).map_err(|cause| {
            let message = format!("{param} of \"{resource}\" cannot be determined: {cause}");
            refused("unknown_value", message)
        })?;
        let mut joined = Joined::default();
        for atom in atoms {
            joined.add(self.atom(&atom).await?);
        }
        let sealed = self.seal(&format!("{param} of \"{resource}\""), joined)?;
        Ok((sealed, Origin::Parts))
    }

    /// The physical name of a resource of the stack.
    pub(crate) async fn physical(&mut self, logical_id: &str) -> Result<Option<String>, Problem> {
        if self.resources.is_none() {
            let name = self.deployed().await?.stack.stack_name.clone();
            let resources = self
                .access
                .cloud
                .stack_resources(&self.access.target, &name)
                .await
                .map_err(Fault::problem)?;
            let resources = resources.into_iter().filter_map(|resource| {
                Some((resource.logical_resource_id, resource.physical_resource_id?))
            });
            self.resources = Some(resources.collect());
        }
        Ok(self
            .resources
            .as_ref()
            .and_then(|resources| resources.get(logical_id))
            .cloned())
    }

    /// The partition and the account of the stack.
    pub(crate) async fn owner(&mut self) -> Result<(String, String), Problem> {
        let deployed = self.deployed().await?;
        Ok((deployed.partition.clone(), deployed.account.clone()))
    }

    async fn deployed(&mut self) -> Result<&Deployed, Problem> {
        let name = self.facts.stack_name();
        if self.stack.is_none() {
            let found = self
                .access
                .cloud
                .describe_stack(&self.access.target, &name)
                .await
                .map_err(Fault::problem)?
                // A stack that only ever had a change set has neither resources nor outputs.
                .filter(|stack| stack.stack_status != "REVIEW_IN_PROGRESS");
            self.stack = found.map(Deployed::read);
            if let Some(deployed) = &self.stack {
                self.facts
                    .account_id
                    .get_or_insert_with(|| deployed.account.clone());
            }
        }
        self.stack.as_ref().ok_or_else(|| {
            let message = format!("the stack {name} is not deployed, and a value of it is needed");
            not_found("stack", &name, message, [])
                .next("deploy it first")
                .next("or leave out connectTo and $ResourceParam where they are not needed")
        })
    }

    async fn atom(&mut self, atom: &Atom) -> Result<Resolved, Lack> {
        match atom {
            Atom::Literal(text) => Ok(plain(text)),
            Atom::Resource(id) => match self.physical(id).await? {
                Some(name) => Ok(plain(&name)),
                None => Err(Lack::Resource(id.clone())),
            },
            Atom::Attribute { id, attribute } => self.attribute(id, attribute).await,
            Atom::Pseudo(name) => Ok(plain(&self.pseudo(name).await?)),
            Atom::Secret { name, key } => Ok(self.secret(name, key.as_deref()).await?),
            Atom::Parameter(name) => Ok(self.ssm(name).await?),
            Atom::Export(name) => Ok(plain(&self.export(name).await?)),
        }
    }

    /// An attribute, as far as an output of the deployed template is exactly it.
    async fn attribute(&mut self, id: &str, attribute: &str) -> Result<Resolved, Lack> {
        if self.attributes.is_none() {
            let stack = self.deployed().await?.stack.clone();
            let template = self
                .access
                .cloud
                .get_template(
                    &self.access.target,
                    &stack.stack_name,
                    TemplateStage::Processed,
                )
                .await
                .map_err(Fault::problem)?;
            self.attributes = Some(attributes(&template, &stack));
        }
        let key = (id.to_owned(), attribute.to_owned());
        if let Some(value) = self.attributes.as_ref().and_then(|known| known.get(&key)) {
            return Ok(plain(value));
        }
        match self.physical(id).await? {
            None => Err(Lack::Resource(id.to_owned())),
            Some(_) => Err(Lack::Output {
                id: id.to_owned(),
                attribute: attribute.to_owned(),
            }),
        }
    }

    async fn pseudo(&mut self, name: &str) -> Result<String, Problem> {
        let deployed = self.deployed().await?;
        Ok(match name {
            "AWS::Region" => deployed.region.clone(),
            "AWS::AccountId" => deployed.account.clone(),
            "AWS::Partition" => deployed.partition.clone(),
            "AWS::StackName" => deployed.stack.stack_name.clone(),
            "AWS::StackId" => deployed.stack.stack_id.clone(),
            "AWS::URLSuffix" if deployed.partition == "aws-cn" => "amazonaws.com.cn".to_owned(),
            "AWS::URLSuffix" => "amazonaws.com".to_owned(),
            other => {
                let message = format!("{other} is only known to CloudFormation");
                return Err(refused("unknown_value", message));
            }
        })
    }

    async fn secret(&mut self, name: &str, key: Option<&str>) -> Result<Resolved, Problem> {
        if !self.secrets.contains_key(name) {
            let call = SignedCall::new(GET_SECRET, json!({ "SecretId": name }));
            let found = self.access.cloud.call(&self.access.target, call).await;
            let found = found.map_err(|failure| match failure.is_not_found() {
                true => missing_secret(name, &self.facts.region),
                false => Fault::problem(failure),
            })?;
            let Some(text) = found.get("SecretString").and_then(Value::as_str) else {
                let message = format!("the secret {name} is binary; a variable needs a text");
                return Err(refused("binary_secret", message).with("secret", name));
            };
            let secret = Secret::new(text.to_owned());
            self.redactor.register(&secret);
            self.secrets.insert(name.to_owned(), secret);
        }
        let whole = self.secrets.get(name).map_or("", |it| it.expose_secret());
        let value = match key {
            None => whole.to_owned(),
            Some(key) => secret_key(whole, key).ok_or_else(|| {
                refused(
                    "missing_secret",
                    format!("the secret {name} has no key {key}"),
                )
                .with("secret", name)
                .next(format!("add \"{key}\" to the JSON of the secret {name}"))
            })?,
        };
        Ok(self.sealed(value))
    }

    async fn ssm(&mut self, name: &str) -> Result<Resolved, Problem> {
        if !self.parameters.contains_key(name) {
            let input = json!({ "Name": name, "WithDecryption": true });
            let call = SignedCall::new(GET_PARAMETER, input);
            let found = self.access.cloud.call(&self.access.target, call).await;
            let found = found.map_err(|failure| match failure.is_not_found() {
                true => {
                    let message = format!(
                        "there is no parameter {name} in the Parameter Store of {}",
                        self.facts.region
                    );
                    refused("missing_parameter", message).with("parameter", name)
                }
                false => Fault::problem(failure),
            })?;
            let text = |path: &str| found.pointer(path).and_then(Value::as_str);
            let value = Secret::new(text("/Parameter/Value").unwrap_or_default().to_owned());
            let is_secret = text("/Parameter/Type") == Some("SecureString");
            if is_secret {
                self.redactor.register(&value);
            }
            self.parameters.insert(name.to_owned(), (value, is_secret));
        }
        let (value, is_secret) = match self.parameters.get(name) {
            Some((value, is_secret)) => (value.clone(), *is_secret),
            None => (Secret::new(String::new()), false),
        };
        Ok(Resolved {
            text: value,
            is_secret,
        })
    }

    async fn export(&mut self, name: &str) -> Result<String, Problem> {
        if self.exports.is_none() {
            let exports = self.access.cloud.list_exports(&self.access.target).await;
            let exports = exports.map_err(Fault::problem)?.into_iter();
            self.exports = Some(exports.map(|export| (export.name, export.value)).collect());
        }
        let exports = self.exports.iter().flatten();
        match exports.clone().find(|(known, _)| *known == name) {
            Some((_, value)) => Ok(value.clone()),
            None => {
                let known = exports.map(|(name, _)| name.as_str());
                let message = format!("no stack of {} exports {name}", self.facts.region);
                Err(not_found("export", name, message, known)
                    .next("set export: true on that output of the other stack and deploy it"))
            }
        }
    }

    fn sealed(&self, value: String) -> Resolved {
        let text = Secret::new(value);
        self.redactor.register(&text);
        Resolved {
            text,
            is_secret: true,
        }
    }

    fn seal(&self, what: &str, joined: Joined) -> Result<Resolved, Problem> {
        if !joined.is_secret {
            return Ok(plain(&joined.text));
        }
        if self.audience == Audience::Everybody {
            let message = format!("{what} is a secret, and it would be visible to everyone");
            return Err(refused("secret_in_public", message)
                .next("leave it out, or let a function of the stack use it"));
        }
        Ok(self.sealed(joined.text))
    }

    /// What is missing, as a problem; `what` needs it.
    pub(crate) fn lacking(&self, what: &str, lack: Lack) -> Problem {
        let stack = self.facts.stack_name();
        match lack {
            Lack::Failed(problem) => problem.with("needed", what),
            Lack::Resource(id) => {
                let message = format!("{what} needs {id}, which the stack {stack} does not have");
                not_found("resource", &id, message, [])
                    .next("deploy the stack as the config is now")
            }
            Lack::Output { id, attribute } => {
                let message = format!(
                    "{what} needs {attribute} of {id}, which no output of the stack {stack} gives"
                );
                not_found("output", &format!("{id}.{attribute}"), message, [])
                    .next("name it in stackConfig.outputs and deploy")
            }
        }
    }
}

impl Deployed {
    fn read(stack: Stack) -> Self {
        let parts: Vec<&str> = stack.stack_id.split(':').collect();
        let part = |index: usize| parts.get(index).copied().unwrap_or_default().to_owned();
        Self {
            partition: part(1),
            region: part(3),
            account: part(4),
            stack,
        }
    }
}

/// Parts put together.
#[derive(Default)]
struct Joined {
    text: String,
    is_secret: bool,
}

impl Joined {
    fn add(&mut self, part: Resolved) {
        self.text.push_str(part.text.expose_secret());
        self.is_secret |= part.is_secret;
    }
}

fn plain(text: &str) -> Resolved {
    Resolved {
        text: Secret::new(text.to_owned()),
        is_secret: false,
    }
}

/// The attributes that outputs give as they are.
fn attributes(template: &str, stack: &Stack) -> BTreeMap<(String, String), String> {
    let template: Value = serde_json::from_str(template).unwrap_or_default();
    let mut known = BTreeMap::new();
    for output in &stack.outputs {
        let value = template
            .get("Outputs")
            .and_then(|outputs| outputs.get(&output.output_key)?.get("Value"));
        let atoms = value.map(of_expression);
        if let Some(Ok(atoms)) = atoms
            && let [Atom::Attribute { id, attribute }] = atoms.as_slice()
        {
            let key = (id.clone(), attribute.clone());
            known.insert(key, output.output_value.clone());
        }
    }
    known
}

/// One key of a secret's JSON, as a text.
fn secret_key(whole: &str, key: &str) -> Option<String> {
    let json: Value = serde_json::from_str(whole).ok()?;
    match json.get(key)? {
        Value::String(text) => Some(text.clone()),
        Value::Null => None,
        other => Some(other.to_string()),
    }
}

fn missing_secret(name: &str, region: &str) -> Problem {
    Problem::new(
        &code::INVALID_INPUT,
        format!("there is no secret {name} in {region}"),
    )
    .with("reason", "missing_secret")
    .with("secret", name)
    .next(format!(
        "windlass stack secret create {name} --region {region}"
    ))
}
