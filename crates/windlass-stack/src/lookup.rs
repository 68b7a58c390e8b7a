//! What a compilation must know of the account: secrets, parameters, hosted zones, a network.
//! Values of secrets are never read.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use windlass_ports::aws::{ActionShape, AwsFailure, SignedCall, services};
use windlass_stack_compile::{Compiled, Facts, Network};
use windlass_stack_config::model::settings::ReuseVpc;
use windlass_stack_diagnose::guard::aws::allow;
use windlass_stack_lifecycle::Access;
use windlass_types::{Problem, code};

use crate::fault;
use crate::package::texts;

/// What a template needs and the account lacks.
#[derive(Default)]
pub(crate) struct Missing {
    pub secrets: Vec<String>,
    pub parameters: Vec<String>,
}

const DESCRIBE_SECRET: ActionShape = ActionShape::new(&services::SECRETSMANAGER, "DescribeSecret");
const DESCRIBE_PARAMETERS: ActionShape = ActionShape::new(&services::SSM, "DescribeParameters");

/// Asks for what a compiled template turned out to need, and adds it to the facts. Says whether
/// anything was learnt that changes the template.
pub(crate) async fn needs(
    access: &Access,
    compiled: &Compiled,
    facts: &mut Facts,
) -> Result<(Missing, bool), Problem> {
    let mut missing = Missing::default();
    let names: BTreeSet<&str> = compiled.secrets.iter().map(|it| it.name.as_str()).collect();
    for name in names {
        match ask(access, DESCRIBE_SECRET, json!({ "SecretId": name })).await {
            Ok(found) if found.get("DeletedDate").is_some_and(|date| !date.is_null()) => {
                missing.secrets.push(name.to_owned());
            }
            Ok(found) => {
                let current = current_version(&found);
                facts
                    .secret_versions
                    .extend(current.map(|version| (name.to_owned(), version)));
            }
            Err(failure) if failure.is_not_found() => missing.secrets.push(name.to_owned()),
            Err(failure) => return Err(fault::problem(failure.into())),
        }
    }
    for name in &compiled.parameters {
        let filter = json!([{ "Key": "Name", "Option": "Equals", "Values": [name] }]);
        let input = json!({ "ParameterFilters": filter });
        let found = ask(access, DESCRIBE_PARAMETERS, input)
            .await
            .map_err(refused)?;
        match found["Parameters"].as_array().and_then(|all| all.first()) {
            Some(parameter) if parameter["Type"] == "SecureString" => {
                facts.secure_parameters.insert(name.clone());
            }
            Some(_) => {}
            None => missing.parameters.push(name.clone()),
        }
    }
    if has_records(&compiled.template) {
        facts.hosted_zones = Some(hosted_zones(access).await?);
    }
    let is_news = !facts.secret_versions.is_empty()
        || !facts.secure_parameters.is_empty()
        || facts.hosted_zones.is_some();
    Ok((missing, is_news))
}

fn refused(failure: AwsFailure) -> Problem {
    fault::problem(failure.into())
}

async fn ask(access: &Access, shape: ActionShape, input: Value) -> Result<Value, AwsFailure> {
    let call = SignedCall::new(shape, input);
    access.cloud.call(&access.target, call).await
}

/// The same for actions whose shapes are in the list of those that only read.
async fn read(
    access: &Access,
    service: &str,
    action: &str,
    input: Value,
) -> Result<Value, Problem> {
    let allowed = allow(service, action).map_err(|refusal| Problem::internal("lookup", refusal))?;
    ask(access, allowed.shape, input).await.map_err(refused)
}

/// The version of a secret that is served now.
fn current_version(described: &Value) -> Option<String> {
    let versions = described.get("VersionIdsToStages")?.as_object()?;
    versions
        .iter()
        .find(|(_, stages)| texts(stages).iter().any(|stage| stage == "AWSCURRENT"))
        .map(|(version, _)| version.clone())
}

/// Whether names are put into the DNS.
fn has_records(template: &Value) -> bool {
    let resources = template.get("Resources").and_then(Value::as_object);
    resources
        .into_iter()
        .flat_map(|resources| resources.values())
        .any(|resource| resource["Type"] == "AWS::Route53::RecordSet")
}

/// The public hosted zones of the account, by name.
async fn hosted_zones(access: &Access) -> Result<BTreeMap<String, String>, Problem> {
    let found = read(access, "route53", "ListHostedZones", json!({})).await?;
    let zones = found["HostedZones"].as_array().into_iter().flatten();
    let public = zones.filter(|zone| zone["Config"]["PrivateZone"] != true);
    Ok(public
        .filter_map(|zone| {
            let name = zone["Name"].as_str()?.trim_end_matches('.').to_owned();
            let id = zone["Id"].as_str()?.trim_start_matches("/hostedzone/");
            Some((name, id.to_owned()))
        })
        .collect())
}

/// The network that a config reuses.
pub(crate) async fn network(access: &Access, wanted: &ReuseVpc) -> Result<Network, Problem> {
    let vpc_id = match &wanted.vpc_id {
        Some(id) => id.clone(),
        None => vpc_of_stack(access, wanted).await?,
    };
    let input = json!({ "VpcIds": [vpc_id] });
    let found = read(access, "ec2", "DescribeVpcs", input).await?;
    let Some(cidr) = found["Vpcs"][0]["CidrBlock"].as_str() else {
        return Err(not_found(format!("there is no network {vpc_id}")));
    };
    let filters = json!([{ "Name": "vpc-id", "Values": [vpc_id] }]);
    let subnets = read(
        access,
        "ec2",
        "DescribeSubnets",
        json!({ "Filters": filters }),
    )
    .await?;
    let all = subnets["Subnets"].as_array().cloned().unwrap_or_default();
    let of = |is_public: bool| -> Vec<String> {
        let mut ids: Vec<String> = all
            .iter()
            .filter(|subnet| (subnet["MapPublicIpOnLaunch"] == true) == is_public)
            .filter_map(|subnet| subnet["SubnetId"].as_str().map(str::to_owned))
            .collect();
        ids.sort();
        ids
    };
    let public_subnets = of(true);
    if public_subnets.len() < 2 {
        let count = public_subnets.len();
        return Err(not_found(format!(
            "the network {vpc_id} has {count} public subnets; two are needed"
        )));
    }
    Ok(Network {
        cidr: cidr.to_owned(),
        public_subnets,
        private_subnets: of(false),
        vpc_id,
    })
}

async fn vpc_of_stack(access: &Access, wanted: &ReuseVpc) -> Result<String, Problem> {
    let (Some(project), Some(stage)) = (&wanted.project_name, &wanted.stage) else {
        return Err(not_found(
            "reuseVpc names neither a network nor a stack".to_owned(),
        ));
    };
    let stack = format!("{project}-{stage}");
    let resources = access.cloud.stack_resources(&access.target, &stack).await;
    let resources = resources.map_err(refused)?;
    let vpc = resources
        .iter()
        .find(|resource| resource.resource_type == "AWS::EC2::VPC")
        .and_then(|resource| resource.physical_resource_id.clone());
    vpc.ok_or_else(|| not_found(format!("the stack {stack} has no network")))
}

fn not_found(message: String) -> Problem {
    Problem::new(&code::INVALID_INPUT, message)
        .with("reason", "config_invalid")
        .with("path", json!(["stackConfig", "vpc", "reuseVpc"]))
        .next("check the id, or the other stack's project and stage")
}
