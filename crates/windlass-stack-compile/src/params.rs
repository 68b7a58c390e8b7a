//! The referenceable parameters of each resource type, as CloudFormation expressions.

use serde_json::{Value, json};
use windlass_stack_config::model::ResourceKind;
use windlass_stack_config::model::common::CustomDomain;
use windlass_stack_config::model::container::{PrivateLoadBalancing, WebLoadBalancing, WebService};

use crate::cf::{arn, attribute, join, join_with, reference, sub};
use crate::name::logical;
use crate::stack::Stack;
use crate::text::Tie;
use crate::types::{load_balancer, service};

impl Stack<'_> {
    /// A parameter of a resource.
    pub fn param(&mut self, resource: &str, param: &str, tie: Tie) -> Value {
        let Some(kind) = self.find(resource) else {
            self.refuse("", format!("there is no resource \"{resource}\""), None);
            return json!("");
        };
        match self.known_param(resource, kind, param, tie) {
            Some(value) => value,
            None => {
                let message = format!(
                    "\"{resource}\" is a {} without a parameter \"{param}\"",
                    kind.type_name()
                );
                self.refuse("", message, None);
                json!("")
            }
        }
    }

    /// A parameter that may not be there: a workload without logs has no log group.
    pub fn try_param(&mut self, resource: &str, param: &str, tie: Tie) -> Option<Value> {
        let kind = self.find(resource)?;
        self.known_param(resource, kind, param, tie)
    }

    fn known_param(
        &mut self,
        name: &str,
        kind: &ResourceKind,
        param: &str,
        tie: Tie,
    ) -> Option<Value> {
        if param.starts_with("cdn") {
            return self.cdn_param(name, kind, param);
        }
        let id = |last: &str| logical(&[name, last]);
        let pick = |loose: Value, firm: Value| match tie {
            Tie::Loose => loose,
            Tie::Firm => firm,
        };
        Some(match (kind, param) {
            (
                ResourceKind::Function(_)
                | ResourceKind::DeploymentScript(_)
                | ResourceKind::CustomResourceDefinition(_),
                "arn",
            ) => pick(self.function_by_name(name), self.function_target(name)),
            (
                ResourceKind::Function(_)
                | ResourceKind::DeploymentScript(_)
                | ResourceKind::CustomResourceDefinition(_),
                "logGroupArn",
            ) => {
                let group = format!("/aws/lambda/{}", self.physical(name, 64));
                let loose = arn(&format!("logs:log-group:{group}:*"));
                pick(loose, attribute(&id("LogGroup"), "Arn"))
            }
            (ResourceKind::Function(_), "url") => attribute(&id("Url"), "FunctionUrl"),
            (ResourceKind::HttpApiGateway(api), param) => {
                self.front_param(Front::api(name, &api.custom_domains), param)?
            }
            (
                ResourceKind::WebService(_)
                | ResourceKind::PrivateService(_)
                | ResourceKind::WorkerService(_),
                "logGroupArn",
            ) => self.container_log_group(name, service::MAIN, tie),
            (ResourceKind::WebService(service), param) => {
                self.front_param(Front::of_web_service(name, service), param)?
            }
            (ResourceKind::ApplicationLoadBalancer(balancer), param) => {
                let front = Front::balancer(
                    name,
                    &balancer.custom_domains,
                    load_balancer::has_https(balancer),
                );
                self.front_param(front, param)?
            }
            (ResourceKind::PrivateService(service), "address") => {
                match service.load_balancing.as_ref() {
                    Some(PrivateLoadBalancing::ApplicationLoadBalancer(_)) => {
                        attribute(&id("LoadBalancer"), "DNSName")
                    }
                    _ => json!(format!("{}:{}", crate::name::plain(name), service.port)),
                }
            }
            (ResourceKind::MultiContainerWorkload(workload), "logGroupArn") => {
                let first = workload.containers.iter().find(|it| !it.logging.disabled)?;
                self.container_log_group(name, &first.name, tie)
            }
            (ResourceKind::BatchJob(_), "jobDefinitionArn") => reference(&id("JobDefinition")),
            (ResourceKind::BatchJob(_), "stateMachineArn") => {
                let machine = self.physical(name, 80);
                pick(
                    arn(&format!("states:stateMachine:{machine}")),
                    reference(&logical(&[name, "JobExecution", "StateMachine"])),
                )
            }
            (ResourceKind::BatchJob(_), "logGroupArn") => {
                let group = self.log_group_name("batch", name, "job");
                let loose = arn(&format!("logs:log-group:{group}:*"));
                pick(loose, attribute(&id("LogGroup"), "Arn"))
            }
            (ResourceKind::RelationalDatabase(database), param) => {
                self.database_param(name, database, param)?
            }
            (ResourceKind::DynamoDbTable(_), "name") => pick(
                json!(self.physical(name, 255)),
                reference(&id("GlobalTable")),
            ),
            (ResourceKind::DynamoDbTable(_), "arn") => pick(
                arn(&format!("dynamodb:table/{}", self.physical(name, 255))),
                attribute(&id("GlobalTable"), "Arn"),
            ),
            (ResourceKind::DynamoDbTable(_), "streamArn") => {
                attribute(&id("GlobalTable"), "StreamArn")
            }
            (ResourceKind::RedisCluster(cluster), param) => {
                self.redis_param(name, cluster, param)?
            }
            (ResourceKind::Bucket(_) | ResourceKind::HostingBucket(_), "name") => {
                pick(json!(self.bucket_name(name)), reference(&id("Bucket")))
            }
            (ResourceKind::Bucket(_) | ResourceKind::HostingBucket(_), "arn") => pick(
                sub(format!(
                    "arn:${{AWS::Partition}}:s3:::{}",
                    self.bucket_name(name)
                )),
                attribute(&id("Bucket"), "Arn"),
            ),
            (ResourceKind::SqsQueue(queue), param) => {
                let queue_name = self.queue_name(name, queue);
                let id = id("Queue");
                match param {
                    "arn" => pick(arn(&format!("sqs:{queue_name}")), attribute(&id, "Arn")),
                    "name" => pick(json!(queue_name), attribute(&id, "QueueName")),
                    "url" => pick(
                        sub(format!(
                            "https://sqs.${{AWS::Region}}.${{AWS::URLSuffix}}/${{AWS::AccountId}}/{queue_name}"
                        )),
                        reference(&id),
                    ),
                    _ => return None,
                }
            }
            (ResourceKind::SnsTopic(topic), param) => {
                let topic_name = self.topic_name(name, topic);
                match param {
                    "arn" => pick(arn(&format!("sns:{topic_name}")), reference(&id("Topic"))),
                    "name" => pick(json!(topic_name), attribute(&id("Topic"), "TopicName")),
                    _ => return None,
                }
            }
            (ResourceKind::EventBus(bus), "arn") => match bus.event_source_name {
                // A partner's bus has the name of its source, which may be known to AWS only.
                Some(_) => attribute(&id("EventBus"), "Arn"),
                None => pick(
                    arn(&format!("events:event-bus/{}", self.physical(name, 256))),
                    attribute(&id("EventBus"), "Arn"),
                ),
            },
            (ResourceKind::EventBus(_), "archiveArn") => attribute(&id("Archive"), "Arn"),
            (ResourceKind::KinesisStream(_), "arn") => pick(
                arn(&format!("kinesis:stream/{}", self.physical(name, 128))),
                attribute(&id("Stream"), "Arn"),
            ),
            (ResourceKind::KinesisStream(_), "name") => {
                pick(json!(self.physical(name, 128)), reference(&id("Stream")))
            }
            (ResourceKind::StateMachine(_), "arn") => pick(
                arn(&format!("states:stateMachine:{}", self.physical(name, 80))),
                reference(&id("StateMachine")),
            ),
            (ResourceKind::StateMachine(_), "name") => pick(
                json!(self.physical(name, 80)),
                attribute(&id("StateMachine"), "Name"),
            ),
            (ResourceKind::UserAuthPool(pool), param) => self.user_pool_param(name, pool, param)?,
            (ResourceKind::OpenSearchDomain(_), "arn") => pick(
                arn(&format!("es:domain/{}", self.physical_plain(name, 28))),
                attribute(&id("Domain"), "Arn"),
            ),
            (ResourceKind::OpenSearchDomain(_), "domainEndpoint") => {
                attribute(&id("Domain"), "DomainEndpoint")
            }
            (ResourceKind::CustomResourceInstance(_), param) => {
                attribute(&id("CustomResource"), param)
            }
            _ => return None,
        })
    }

    fn container_log_group(&self, name: &str, container: &str, tie: Tie) -> Value {
        let group = self.log_group_name("ecs", name, container);
        match tie {
            Tie::Loose => arn(&format!("logs:log-group:{group}:*")),
            Tie::Firm => attribute(&logical(&[name, container, "LogGroup"]), "Arn"),
        }
    }

    fn front_param(&mut self, front: Front<'_>, param: &str) -> Option<Value> {
        let scheme = match front.is_https {
            true => "https://",
            false => "http://",
        };
        Some(match param {
            "domain" => front.domain,
            // A certificate is for the domain names it was issued for, never for AWS's own.
            "url" => match front.domains.first() {
                Some(domain) if front.needs_own_domain => {
                    let domain = self.loose(&domain.domain_name);
                    join([json!(scheme), domain])
                }
                _ if front.needs_own_domain => join([json!("http://"), front.domain]),
                _ => join([json!("https://"), front.domain]),
            },
            _ => self.domain_param(front.domains, scheme, param)?,
        })
    }

    /// What custom domains add.
    pub fn domain_param(
        &mut self,
        domains: &[CustomDomain],
        scheme: &str,
        param: &str,
    ) -> Option<Value> {
        let names: Vec<Value> = domains
            .iter()
            .map(|domain| self.loose(&domain.domain_name))
            .collect();
        let urls = names
            .iter()
            .map(|name| join([json!(scheme), name.clone()]))
            .collect::<Vec<_>>();
        match param {
            "customDomains" => Some(join_with(",", names)),
            "customDomainUrls" => Some(join_with(",", urls)),
            "customDomainUrl" => urls.into_iter().next(),
            "canonicalDomain" => names.into_iter().next(),
            _ => None,
        }
    }
}

/// A way in from the internet.
pub(crate) struct Front<'a> {
    pub domain: Value,
    domains: &'a [CustomDomain],
    is_https: bool,
    /// Whether HTTPS works by the custom domains only.
    needs_own_domain: bool,
}

impl<'a> Front<'a> {
    pub fn api(name: &str, domains: &'a [CustomDomain]) -> Self {
        let api = reference(&logical(&[name, "Api"]));
        let rest = sub(".execute-api.${AWS::Region}.${AWS::URLSuffix}");
        Self {
            domain: join([api, rest]),
            domains,
            is_https: true,
            needs_own_domain: false,
        }
    }

    fn balancer(name: &str, domains: &'a [CustomDomain], is_https: bool) -> Self {
        Self {
            domain: attribute(&logical(&[name, "LoadBalancer"]), "DNSName"),
            domains,
            is_https,
            needs_own_domain: true,
        }
    }

    pub fn of_web_service(name: &str, service: &'a WebService) -> Self {
        match &service.load_balancing {
            Some(WebLoadBalancing::ApplicationLoadBalancer(_)) => {
                let balancer = service::own_balancer(service);
                let is_https = load_balancer::has_https(&balancer);
                Self::balancer(name, &service.custom_domains, is_https)
            }
            _ => Self::api(name, &service.custom_domains),
        }
    }
}
