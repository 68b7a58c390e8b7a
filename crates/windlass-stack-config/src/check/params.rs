//! What of a resource others can refer to, by `$ResourceParam` and by connectTo.

use crate::model::ResourceKind;
use crate::model::cdn::Cdn;

/// What a content delivery network adds.
pub const CDN_PARAMS: [&str; 6] = [
    "cdnDomain",
    "cdnUrl",
    "cdnCustomDomains",
    "cdnCustomDomainUrls",
    "cdnCanonicalDomain",
    "cdnCanonicalUrl",
];

/// The parameters of a resource, in a fixed order. None means that its attributes are not known
/// beforehand (custom resources), so every name is taken.
pub fn referenceable_params(kind: &ResourceKind) -> Option<Vec<&'static str>> {
    let mut params: Vec<&'static str> = Vec::new();
    let mut add = |names: &[&'static str], when: bool| {
        if when {
            params.extend_from_slice(names);
        }
    };
    match kind {
        ResourceKind::Function(function) => {
            add(&["arn"], true);
            add(&["logGroupArn"], !function.logging.disabled);
            add(
                &["url"],
                function.url.as_ref().is_some_and(|url| url.enabled),
            );
            add(&CDN_PARAMS, has_cdn(function.cdn.as_ref()));
        }
        ResourceKind::HttpApiGateway(api) => {
            add(&["domain", "url"], true);
            add(&CUSTOM_DOMAIN_PARAMS, !api.custom_domains.is_empty());
            add(&CDN_PARAMS, has_cdn(api.cdn.as_ref()));
        }
        ResourceKind::WebService(service) => {
            add(&["domain", "url"], true);
            add(&["logGroupArn"], !service.logging.disabled);
            add(&CUSTOM_DOMAIN_PARAMS, !service.custom_domains.is_empty());
            add(&CDN_PARAMS, has_cdn(service.cdn.as_ref()));
        }
        ResourceKind::PrivateService(service) => {
            add(&["address"], true);
            add(&["logGroupArn"], !service.logging.disabled);
        }
        ResourceKind::WorkerService(service) => add(&["logGroupArn"], !service.logging.disabled),
        ResourceKind::MultiContainerWorkload(_) => add(&["logGroupArn"], true),
        ResourceKind::BatchJob(job) => {
            add(&["jobDefinitionArn", "stateMachineArn"], true);
            add(&["logGroupArn"], !job.logging.disabled);
        }
        ResourceKind::RelationalDatabase(database) => {
            add(
                &[
                    "host",
                    "port",
                    "dbName",
                    "connectionString",
                    "jdbcConnectionString",
                ],
                true,
            );
            add(
                &[
                    "readerHost",
                    "readerPort",
                    "readerConnectionString",
                    "readerJdbcConnectionString",
                ],
                database.engine.is_aurora(),
            );
            add(
                &[
                    "readReplicaHosts",
                    "readReplicaConnectionStrings",
                    "readReplicaJdbcConnectionStrings",
                ],
                has_replicas(&database.engine),
            );
        }
        ResourceKind::DynamoDbTable(table) => {
            add(&["name", "arn"], true);
            add(&["streamArn"], table.stream_type.is_some());
        }
        ResourceKind::RedisCluster(cluster) => {
            add(&["host", "port", "connectionString", "sharding"], true);
            add(
                &["readerHost", "readerConnectionString"],
                cluster.num_replica_nodes > 0 && !cluster.enable_sharding,
            );
        }
        ResourceKind::Bucket(bucket) => {
            add(&["name", "arn"], true);
            add(&CDN_PARAMS, has_cdn(bucket.cdn.as_ref()));
        }
        ResourceKind::HostingBucket(_) => {
            add(&["name", "arn"], true);
            add(&CDN_PARAMS, true);
        }
        ResourceKind::SqsQueue(_) => add(&["arn", "name", "url"], true),
        ResourceKind::SnsTopic(_)
        | ResourceKind::KinesisStream(_)
        | ResourceKind::StateMachine(_) => add(&["arn", "name"], true),
        ResourceKind::EventBus(bus) => {
            add(&["arn"], true);
            let is_kept = bus.archivation.as_ref().is_some_and(|kept| kept.enabled);
            add(&["archiveArn"], is_kept);
        }
        ResourceKind::UserAuthPool(pool) => {
            add(&["id", "clientId", "arn", "providerUrl"], true);
            add(&["clientSecret"], pool.generate_client_secret);
            add(
                &["domain"],
                pool.enable_hosted_ui || pool.custom_domain.is_some(),
            );
        }
        ResourceKind::OpenSearchDomain(_) => add(&["arn", "domainEndpoint"], true),
        ResourceKind::ApplicationLoadBalancer(balancer) => {
            add(&["domain", "url"], true);
            add(&CUSTOM_DOMAIN_PARAMS, !balancer.custom_domains.is_empty());
            add(&CDN_PARAMS, has_cdn(balancer.cdn.as_ref()));
        }
        ResourceKind::DeploymentScript(_) | ResourceKind::CustomResourceDefinition(_) => {
            add(&["arn", "logGroupArn"], true);
        }
        ResourceKind::Bastion(_) => {}
        ResourceKind::CustomResourceInstance(_) => return None,
    }
    Some(params)
}

const CUSTOM_DOMAIN_PARAMS: [&str; 4] = [
    "customDomains",
    "customDomainUrl",
    "customDomainUrls",
    "canonicalDomain",
];

fn has_cdn(cdn: Option<&Cdn>) -> bool {
    cdn.is_some_and(|cdn| cdn.enabled)
}

fn has_replicas(engine: &crate::model::database::DatabaseEngine) -> bool {
    use crate::model::database::DatabaseEngine as Engine;
    match engine {
        Engine::Postgres(engine)
        | Engine::Mysql(engine)
        | Engine::Mariadb(engine)
        | Engine::OracleEe(engine)
        | Engine::OracleSe2(engine)
        | Engine::SqlserverEe(engine)
        | Engine::SqlserverEx(engine)
        | Engine::SqlserverSe(engine)
        | Engine::SqlserverWeb(engine) => !engine.read_replicas.is_empty(),
        _ => false,
    }
}
