//! Alarms, and e-mails about them.

use serde_json::{Value, json};
use windlass_stack_config::model::ResourceKind;
use windlass_stack_config::model::alarms::{
    Alarm, AlarmTrigger, Comparison, NotificationTarget, Statistic, UnhealthyTargets,
};
use windlass_stack_config::model::container::WebLoadBalancing;
use windlass_stack_config::model::events::ContainerEvent;

use crate::cf::{attribute, reference};
use crate::name::logical;
use crate::stack::Stack;

/// What an alarm compares with what.
struct Watch {
    source: Source,
    threshold: f64,
    comparison: Comparison,
}

enum Source {
    Metric {
        namespace: &'static str,
        name: String,
        dimensions: Vec<(String, Value)>,
        statistic: &'static str,
    },
    /// An expression over metrics, each with its id.
    Expression {
        expression: String,
        metrics: Vec<Measure>,
    },
}

/// One metric of an expression.
struct Measure {
    id: String,
    namespace: &'static str,
    name: String,
    dimensions: Vec<(String, Value)>,
    statistic: &'static str,
}

impl Stack<'_> {
    pub fn alarms(&mut self, name: &str, alarms: &[Alarm], disabled: &[String]) {
        if !disabled.is_empty() {
            self.warn(
                "disabledGlobalAlarms",
                "there are no alarms of the account; this has no effect",
            );
        }
        for (index, alarm) in alarms.iter().enumerate() {
            let Some(watch) = self.watch(name, index, &alarm.trigger) else {
                continue;
            };
            self.alarm(name, index, alarm, watch);
        }
    }

    fn alarm(&mut self, name: &str, index: usize, alarm: &Alarm, watch: Watch) {
        let trigger = alarm.trigger.type_name();
        let base = format!("{trigger}-For-{name}-{index}");
        if alarm.evaluation.breached_periods > alarm.evaluation.evaluation_periods {
            self.refuse(
                &format!("alarms.{index}.evaluation.breachedPeriods"),
                "more periods are to be breached than are evaluated",
                None,
            );
        }
        if !alarm.include_in_history {
            self.warn(
                &format!("alarms.{index}.includeInHistory"),
                "CloudWatch keeps the history of every alarm; this has no effect",
            );
        }
        let actions = self.notifications(&base, index, alarm);
        let mut properties = json!({
            "AlarmName": self.physical(&format!("{name}-{trigger}-{index}"), 255),
            "AlarmDescription": alarm.description.clone().unwrap_or_else(|| {
                format!("{trigger} of {name} in {}", self.facts.stack_name())
            }),
            "ComparisonOperator": comparison(watch.comparison),
            "Threshold": watch.threshold,
            "EvaluationPeriods": alarm.evaluation.evaluation_periods,
            "DatapointsToAlarm": alarm.evaluation.breached_periods,
            "TreatMissingData": "notBreaching",
            "AlarmActions": actions.clone().map(|topic| json!([topic])),
            "OKActions": actions.map(|topic| json!([topic])),
        });
        let period = alarm.evaluation.period;
        match watch.source {
            Source::Metric {
                namespace,
                name,
                dimensions,
                statistic,
            } => {
                properties["Namespace"] = json!(namespace);
                properties["MetricName"] = json!(name);
                properties["Dimensions"] = to_dimensions(&dimensions);
                properties["Period"] = json!(period);
                let key = if statistic.starts_with('p') {
                    "ExtendedStatistic"
                } else {
                    "Statistic"
                };
                properties[key] = json!(statistic);
            }
            Source::Expression {
                expression,
                metrics,
            } => {
                let mut list = vec![json!({
                    "Id": "value",
                    "Expression": expression,
                    "ReturnData": true,
                })];
                for measure in metrics {
                    list.push(json!({
                        "Id": measure.id,
                        "ReturnData": false,
                        "MetricStat": {
                            "Metric": {
                                "Namespace": measure.namespace,
                                "MetricName": measure.name,
                                "Dimensions": to_dimensions(&measure.dimensions),
                            },
                            "Period": period,
                            "Stat": measure.statistic,
                        },
                    }));
                }
                properties["Metrics"] = json!(list);
            }
        }
        self.add(
            logical(&[&base, "Alarm"]),
            "AWS::CloudWatch::Alarm",
            properties,
        );
    }

    /// A topic with e-mail subscriptions; AWS sends from an address of its own.
    fn notifications(&mut self, base: &str, index: usize, alarm: &Alarm) -> Option<Value> {
        if alarm.notification_targets.is_empty() {
            return None;
        }
        let mut subscriptions = Vec::new();
        for (position, NotificationTarget::Email(target)) in
            alarm.notification_targets.iter().enumerate()
        {
            let recipient = self.text(&target.recipient);
            self.warn(
                &format!("alarms.{index}.notificationTargets.{position}.properties.sender"),
                "the sender is not used: AWS sends from an address of its own, after the recipient confirms",
            );
            subscriptions.push(json!({ "Protocol": "email", "Endpoint": recipient }));
        }
        let topic = logical(&[base, "Notification", "Topic"]);
        self.add(
            &topic,
            "AWS::SNS::Topic",
            json!({ "Subscription": subscriptions }),
        );
        Some(reference(&topic))
    }

    fn watch(&mut self, name: &str, index: usize, trigger: &AlarmTrigger) -> Option<Watch> {
        let Some(subject) = self.subject(name, trigger) else {
            let kind = self.find(name).map_or("resource", ResourceKind::type_name);
            self.refuse(
                &format!("alarms.{index}.trigger"),
                format!("a {kind} has no {}", trigger.type_name()),
                Some("use a trigger of this resource type"),
            );
            return None;
        };
        if asks_for_statistic_of_rate(trigger) {
            self.refuse(
                &format!("alarms.{index}.trigger.properties.statistic"),
                "an error rate is a ratio of sums",
                Some("leave statistic out"),
            );
        }
        let above = Comparison::GreaterThanThreshold;
        let below = Comparison::LessThanThreshold;
        let metric = |namespace, name: &str, stat: Option<Statistic>, usual| Source::Metric {
            namespace,
            name: name.to_owned(),
            dimensions: subject.clone(),
            statistic: stat.map_or(usual, statistic),
        };
        let rate = |namespace, errors: &[&str], all: &str| {
            let sum = |id: String, name: &str| Measure {
                id,
                namespace,
                name: name.to_owned(),
                dimensions: subject.clone(),
                statistic: "Sum",
            };
            let mut metrics = vec![sum("all".to_owned(), all)];
            let mut terms = Vec::new();
            for (index, error) in errors.iter().enumerate() {
                let id = format!("e{index}");
                terms.push(format!("FILL({id}, 0)"));
                metrics.push(sum(id, error));
            }
            Source::Expression {
                expression: format!("100 * ({}) / all", terms.join(" + ")),
                metrics,
            }
        };
        const MEGABYTE: f64 = 1_048_576.0;
        let (source, threshold, wanted, usual) = match trigger {
            AlarmTrigger::LambdaErrorRate(it) => (
                rate("AWS/Lambda", &["Errors"], "Invocations"),
                it.threshold_percent,
                it.comparison_operator,
                above,
            ),
            AlarmTrigger::LambdaDuration(it) => (
                metric("AWS/Lambda", "Duration", it.statistic, "Average"),
                it.threshold_milliseconds,
                it.comparison_operator,
                above,
            ),
            AlarmTrigger::DatabaseCpuUtilization(it) => (
                metric("AWS/RDS", "CPUUtilization", it.statistic, "Average"),
                it.threshold_percent,
                it.comparison_operator,
                above,
            ),
            AlarmTrigger::DatabaseFreeStorage(it) => (
                metric("AWS/RDS", "FreeStorageSpace", it.statistic, "Minimum"),
                it.threshold_mb * MEGABYTE,
                it.comparison_operator,
                below,
            ),
            AlarmTrigger::DatabaseFreeMemory(it) => (
                metric("AWS/RDS", "FreeableMemory", it.statistic, "Average"),
                it.threshold_mb * MEGABYTE,
                it.comparison_operator,
                below,
            ),
            AlarmTrigger::DatabaseConnectionCount(it) => (
                metric("AWS/RDS", "DatabaseConnections", it.statistic, "Average"),
                it.threshold_count,
                it.comparison_operator,
                above,
            ),
            AlarmTrigger::DatabaseReadLatency(it) => (
                metric("AWS/RDS", "ReadLatency", it.statistic, "Average"),
                it.threshold_seconds,
                it.comparison_operator,
                above,
            ),
            AlarmTrigger::DatabaseWriteLatency(it) => (
                metric("AWS/RDS", "WriteLatency", it.statistic, "Average"),
                it.threshold_seconds,
                it.comparison_operator,
                above,
            ),
            AlarmTrigger::HttpApiGatewayErrorRate(it) => (
                rate("AWS/ApiGateway", &["4xx", "5xx"], "Count"),
                it.threshold_percent,
                it.comparison_operator,
                above,
            ),
            AlarmTrigger::HttpApiGatewayLatency(it) => (
                metric("AWS/ApiGateway", "Latency", it.statistic, "Average"),
                it.threshold_milliseconds,
                it.comparison_operator,
                above,
            ),
            AlarmTrigger::LoadBalancerErrorRate(it) => (
                rate(
                    "AWS/ApplicationELB",
                    &[
                        "HTTPCode_Target_4XX_Count",
                        "HTTPCode_Target_5XX_Count",
                        "HTTPCode_ELB_5XX_Count",
                    ],
                    "RequestCount",
                ),
                it.threshold_percent,
                it.comparison_operator,
                above,
            ),
            AlarmTrigger::LoadBalancerUnhealthyTargets(it) => (
                self.unhealthy(name, index, it, &subject)?,
                it.threshold_percent,
                None,
                above,
            ),
            AlarmTrigger::LoadBalancerCustom(it) => (
                metric("AWS/ApplicationELB", &it.metric, it.statistic, "Average"),
                it.threshold,
                it.comparison_operator,
                above,
            ),
            AlarmTrigger::SqsReceivedMessages(it) => (
                metric("AWS/SQS", "NumberOfMessagesReceived", it.statistic, "Sum"),
                it.threshold_count,
                it.comparison_operator,
                above,
            ),
            AlarmTrigger::SqsNotEmpty(_) => {
                let metrics = [
                    ("visible", "ApproximateNumberOfMessagesVisible"),
                    ("hidden", "ApproximateNumberOfMessagesNotVisible"),
                ]
                .map(|(id, name)| Measure {
                    id: id.to_owned(),
                    namespace: "AWS/SQS",
                    name: name.to_owned(),
                    dimensions: subject.clone(),
                    statistic: "Maximum",
                });
                let source = Source::Expression {
                    expression: "visible + hidden".to_owned(),
                    metrics: metrics.into(),
                };
                (source, 0.0, None, above)
            }
        };
        Some(Watch {
            source,
            threshold,
            comparison: wanted.unwrap_or(usual),
        })
    }

    /// What a trigger's metrics are about; None where the resource has no such thing.
    fn subject(&self, name: &str, trigger: &AlarmTrigger) -> Option<Vec<(String, Value)>> {
        let one = |key: &str, value: Value| Some(vec![(key.to_owned(), value)]);
        let is_balanced = |it: &windlass_stack_config::model::container::WebService| {
            matches!(
                it.load_balancing,
                Some(WebLoadBalancing::ApplicationLoadBalancer(_))
            )
        };
        let kind = trigger.type_name();
        match self.find(name)? {
            ResourceKind::Function(_) if kind.starts_with("lambda-") => {
                one("FunctionName", reference(&logical(&[name, "Function"])))
            }
            ResourceKind::RelationalDatabase(it) if kind.starts_with("database-") => {
                match it.engine.is_aurora() {
                    true => one(
                        "DBClusterIdentifier",
                        reference(&logical(&[name, "DBCluster"])),
                    ),
                    false => one(
                        "DBInstanceIdentifier",
                        reference(&logical(&[name, "DBInstance"])),
                    ),
                }
            }
            ResourceKind::HttpApiGateway(_) if kind.starts_with("http-api-gateway-") => {
                one("ApiId", reference(&logical(&[name, "Api"])))
            }
            ResourceKind::WebService(it)
                if kind.starts_with("http-api-gateway-") && !is_balanced(it) =>
            {
                one("ApiId", reference(&logical(&[name, "Api"])))
            }
            ResourceKind::WebService(it)
                if kind.starts_with("application-load-balancer-") && is_balanced(it) =>
            {
                let id = logical(&[name, "LoadBalancer"]);
                one("LoadBalancer", attribute(&id, "LoadBalancerFullName"))
            }
            ResourceKind::ApplicationLoadBalancer(_)
                if kind.starts_with("application-load-balancer-") =>
            {
                let id = logical(&[name, "LoadBalancer"]);
                one("LoadBalancer", attribute(&id, "LoadBalancerFullName"))
            }
            ResourceKind::SqsQueue(_) if kind.starts_with("sqs-queue-") => one(
                "QueueName",
                attribute(&logical(&[name, "Queue"]), "QueueName"),
            ),
            _ => None,
        }
    }

    fn unhealthy(
        &mut self,
        name: &str,
        index: usize,
        it: &UnhealthyTargets,
        balancer: &[(String, Value)],
    ) -> Option<Source> {
        let only = it.only_include_targets.as_deref();
        let mut groups: Vec<String> = Vec::new();
        for (workload, kind) in self.each() {
            if only.is_some_and(|only| only.iter().all(|it| it != workload)) {
                continue;
            }
            match kind {
                ResourceKind::WebService(_) if workload == name => {
                    groups.push(logical(&[
                        name,
                        &format!("{name}ToPort3000"),
                        "TargetGroup",
                    ]));
                }
                ResourceKind::MultiContainerWorkload(it) => {
                    for event in it.containers.iter().flat_map(|container| &container.events) {
                        if let ContainerEvent::ApplicationLoadBalancer(event) = event
                            && event.load_balancer_name == name
                        {
                            let port = format!("{name}ToPort{}", event.container_port);
                            groups.push(logical(&[workload, &port, "TargetGroup"]));
                        }
                    }
                }
                _ => {}
            }
        }
        groups.sort();
        groups.dedup();
        if groups.is_empty() {
            self.refuse(
                &format!("alarms.{index}.trigger"),
                "the load balancer has no containers",
                Some("only containers are healthy or not; functions always are"),
            );
            return None;
        }
        let mut metrics = Vec::new();
        let (mut unhealthy, mut healthy) = (Vec::new(), Vec::new());
        for (index, group) in groups.iter().enumerate() {
            let mut dimensions = balancer.to_vec();
            let group = attribute(group, "TargetGroupFullName");
            dimensions.push(("TargetGroup".to_owned(), group));
            for (prefix, metric, terms) in [
                ("u", "UnHealthyHostCount", &mut unhealthy),
                ("h", "HealthyHostCount", &mut healthy),
            ] {
                let id = format!("{prefix}{index}");
                terms.push(format!("FILL({id}, 0)"));
                metrics.push(Measure {
                    id,
                    namespace: "AWS/ApplicationELB",
                    name: metric.to_owned(),
                    dimensions: dimensions.clone(),
                    statistic: "Maximum",
                });
            }
        }
        let (unhealthy, healthy) = (unhealthy.join(" + "), healthy.join(" + "));
        Some(Source::Expression {
            expression: format!("100 * ({unhealthy}) / ({unhealthy} + {healthy})"),
            metrics,
        })
    }
}

/// A rate has no statistic to choose.
fn asks_for_statistic_of_rate(trigger: &AlarmTrigger) -> bool {
    match trigger {
        AlarmTrigger::LambdaErrorRate(it)
        | AlarmTrigger::HttpApiGatewayErrorRate(it)
        | AlarmTrigger::LoadBalancerErrorRate(it) => it.statistic.is_some(),
        _ => false,
    }
}

fn to_dimensions(dimensions: &[(String, Value)]) -> Value {
    dimensions
        .iter()
        .map(|(name, value)| json!({ "Name": name, "Value": value }))
        .collect()
}

fn statistic(statistic: Statistic) -> &'static str {
    match statistic {
        Statistic::Avg => "Average",
        Statistic::Max => "Maximum",
        Statistic::Min => "Minimum",
        Statistic::P90 => "p90",
        Statistic::P95 => "p95",
        Statistic::P99 => "p99",
        Statistic::Sum => "Sum",
    }
}

fn comparison(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::GreaterThanOrEqualToThreshold => "GreaterThanOrEqualToThreshold",
        Comparison::GreaterThanThreshold => "GreaterThanThreshold",
        Comparison::LessThanOrEqualToThreshold => "LessThanOrEqualToThreshold",
        Comparison::LessThanThreshold => "LessThanThreshold",
    }
}
