//! Logs, metrics, alarms.

use serde_json::{Value, json};

use super::world::{World, code_and_reason, of_stack};

#[tokio::test]
async fn log_lines_are_paged_by_a_cursor_that_keeps_its_span() {
    let world = World::new();
    let now = world.now().as_millis();
    world
        .cloud
        .answer(
            "logs:FilterLogEvents",
            json!({ "events": [], "nextToken": "empty-page" }),
        )
        .answer(
            "logs:FilterLogEvents",
            json!({
                "events": [{ "timestamp": now, "message": "failed\n", "logStreamName": "s" }],
                "nextToken": "more",
            }),
        );
    let arguments = of_stack(
        json!({ "resourceName": "api", "filter": "?a ?b", "limit": 1, "startTime": "15m" }),
    );
    let (answered, left) = world.ask("logs", arguments).await;
    let answer = answered.unwrap();
    assert_eq!(answer.data["logGroup"], "/aws/lambda/shop-dev-api");
    assert_eq!(answer.data["events"][0]["message"], "failed");
    assert_eq!(answer.data["truncated"], true);
    let asked = left.cloud.inputs("logs:FilterLogEvents");
    assert_eq!(asked[0]["filterPattern"], "?a ?b");
    assert_eq!(asked[0]["startTime"], now - 900_000);
    assert_eq!(asked[1]["nextToken"], "empty-page");

    let world = World::new();
    world
        .clock
        .advance(std::time::Duration::from_secs(60))
        .await;
    world
        .cloud
        .answer("logs:FilterLogEvents", json!({ "events": [] }));
    let cursor = &answer.data["nextCursor"];
    let arguments = of_stack(json!({ "resourceName": "api", "cursor": cursor, "raw": true }));
    let (answered, left) = world.ask("logs", arguments).await;
    assert_eq!(answered.unwrap().data["nextCursor"], Value::Null);
    let asked = &left.cloud.inputs("logs:FilterLogEvents")[0];
    assert_eq!(asked["nextToken"], "more");
    assert_eq!(asked["startTime"], now - 900_000);
    assert_eq!(asked["endTime"], now);
}

#[tokio::test]
async fn the_log_group_is_found_in_the_stack_or_asked_for() {
    for (arguments, group) in [
        (
            json!({ "resourceName": "web", "container": "side" }),
            "/windlass/shop-dev/ecs/web/side",
        ),
        (
            json!({ "resourceName": "WebMainLogGroup" }),
            "/windlass/shop-dev/ecs/web/main",
        ),
        (json!({ "resourceName": "bare" }), "/custom"),
    ] {
        let world = World::new();
        world
            .cloud
            .answer("logs:FilterLogEvents", json!({ "events": [] }))
            .answer(
                "lambda:GetFunctionConfiguration",
                json!({ "LoggingConfig": { "LogGroup": "/custom" } }),
            );
        let (answered, _) = world.ask("logs", of_stack(arguments.clone())).await;
        assert_eq!(answered.unwrap().data["logGroup"], group, "{arguments}");
    }
    for (arguments, expected) in [
        (
            json!({ "resourceName": "web" }),
            ("INVALID_INPUT", "missing_argument"),
        ),
        (
            json!({ "resourceName": "web", "container": "x" }),
            ("NOT_FOUND", "not_found"),
        ),
        (
            json!({ "resourceName": "nothing" }),
            ("NOT_FOUND", "not_found"),
        ),
    ] {
        let (answered, _) = World::new().ask("logs", of_stack(arguments.clone())).await;
        let (code, reason) = code_and_reason(&answered.unwrap_err());
        assert_eq!((code, reason.as_str()), expected, "{arguments}");
    }
    let world = World::new();
    world.cloud.fail(
        "logs:FilterLogEvents",
        "ResourceNotFoundException",
        "no group",
    );
    let (answered, _) = world
        .ask("logs", of_stack(json!({ "resourceName": "api" })))
        .await;
    assert_eq!(answered.unwrap_err().details()["kind"], "log_group");
}

#[tokio::test]
async fn insights_are_waited_for_and_long_rows_are_read_completely() {
    let long = "x".repeat(1_000);
    let world = World::new();
    world
        .cloud
        .answer("logs:StartQuery", json!({ "queryId": "q" }))
        .answer("logs:GetQueryResults", json!({ "status": "Running" }))
        .answer(
            "logs:GetQueryResults",
            json!({ "status": "Complete", "results": [
            [{ "field": "@message", "value": long }, { "field": "@ptr", "value": "p" }],
            [{ "field": "count", "value": "2" }],
        ] }),
        )
        .answer(
            "logs:GetLogRecord",
            json!({ "logRecord": { "@message": format!("{long}yz") } }),
        );
    let clock = world.clock.clone();
    let arguments = of_stack(json!({ "resourceName": "api", "query": "fields @message" }));
    let (answered, _) = clock.run(world.ask("logs", arguments)).await;
    let data = answered.unwrap().data;
    assert_eq!(
        data["results"][0]["@message"].as_str().unwrap().len(),
        1_002
    );
    assert_eq!(data["results"][1], json!({ "count": "2" }));

    for (status, code) in [("Running", "TIMEOUT"), ("Failed", "UPSTREAM_ERROR")] {
        let world = World::new();
        world
            .cloud
            .answer("logs:StartQuery", json!({ "queryId": "q" }))
            .answer("logs:GetQueryResults", json!({ "status": status }))
            .answer("logs:StopQuery", json!({}));
        let clock = world.clock.clone();
        let arguments =
            of_stack(json!({ "resourceName": "api", "query": "x", "timeoutSeconds": 5 }));
        let (answered, left) = clock.run(world.ask("logs", arguments)).await;
        assert_eq!(code_and_reason(&answered.unwrap_err()).0, code);
        assert_eq!(
            left.cloud.inputs("logs:StopQuery").len(),
            usize::from(code == "TIMEOUT")
        );
    }
}

#[tokio::test]
async fn metrics_have_their_dimensions_and_unit() {
    let point =
        |time: &str, value: f64| json!({ "Timestamp": time, "Average": value, "Unit": "Percent" });
    for (resource, namespace, dimensions) in [
        (
            "api",
            "AWS/Lambda",
            json!({ "FunctionName": "shop-dev-api" }),
        ),
        (
            "web",
            "AWS/ECS",
            json!({ "ClusterName": "cluster", "ServiceName": "web-1" }),
        ),
        (
            "db",
            "AWS/RDS",
            json!({ "DBInstanceIdentifier": "shop-dev-db" }),
        ),
        (
            "cache",
            "AWS/ElastiCache",
            json!({ "CacheClusterId": "shop-dev-cache-001" }),
        ),
    ] {
        let world = World::new();
        super::world::with_cache(&world.cloud, "x");
        world.cloud.answer(
            "cloudwatch:GetMetricStatistics",
            json!({ "Datapoints": [
            point("2025-06-15T15:05:00Z", 2.0), point("2025-06-15T15:00:00Z", 1.0),
        ] }),
        );
        let arguments = of_stack(json!({ "resourceName": resource, "metric": "CPU" }));
        let (answered, left) = world.ask("metrics", arguments).await;
        let data = answered.unwrap().data;
        assert_eq!(
            (&data["namespace"], &data["dimensions"]),
            (&json!(namespace), &dimensions)
        );
        assert_eq!(data["unit"], "Percent");
        let values: Vec<&Value> = data["datapoints"]
            .as_array()
            .unwrap()
            .iter()
            .map(|point| &point["value"])
            .collect();
        assert_eq!(json!(values), json!([1.0, 2.0]));
        let asked = &left.cloud.inputs("cloudwatch:GetMetricStatistics")[0];
        assert_eq!(asked["Statistics"], json!(["Average"]));
        assert_eq!(asked["Period"], 300);
    }
    let world = World::new();
    world.cloud.answer(
        "cloudwatch:GetMetricStatistics",
        json!({ "Datapoints": [] }),
    );
    let arguments = of_stack(json!({
        "resourceName": "api", "metric": "Orders", "namespace": "Shop", "dimensions": { "Kind": "a" }, "stat": "p99",
    }));
    let (answered, left) = world.ask("metrics", arguments).await;
    assert_eq!(answered.unwrap().data["dimensions"], json!({ "Kind": "a" }));
    assert_eq!(
        left.cloud.inputs("cloudwatch:GetMetricStatistics")[0]["ExtendedStatistics"],
        json!(["p99"])
    );
}

#[tokio::test]
async fn only_alarms_of_the_stack_are_listed() {
    let described = json!({ "MetricAlarms": [{
        "AlarmName": "shop-dev-api-errors", "StateValue": "ALARM", "MetricName": "Errors",
        "Threshold": 1, "ComparisonOperator": "GreaterThanThreshold", "StateReason": "many",
        "StateUpdatedTimestamp": "2025-06-15T15:00:00Z",
        "Dimensions": [{ "Name": "FunctionName", "Value": "shop-dev-api" }],
    }] });
    for (filter, count) in [
        (json!({}), 1),
        (json!({ "resourceName": "api" }), 1),
        (json!({ "resourceName": "web" }), 0),
        (json!({ "state": "ALARM" }), 1),
        (json!({ "state": "OK" }), 0),
    ] {
        let world = World::new();
        world
            .cloud
            .answer("cloudwatch:DescribeAlarms", described.clone());
        let (answered, left) = world.ask("alarms", of_stack(filter.clone())).await;
        let data = answered.unwrap().data;
        assert_eq!(data["count"], count, "{filter}");
        if count == 1 {
            assert_eq!(data["alarms"][0]["resource"], "ApiFunction");
            assert_eq!(data["alarms"][0]["threshold"], 1.0);
        }
        let asked = &left.cloud.inputs("cloudwatch:DescribeAlarms")[0];
        assert_eq!(asked["AlarmNames"], json!(["shop-dev-api-errors"]));
    }
    let (answered, _) = World::new()
        .ask("alarms", of_stack(json!({ "resourceName": "no" })))
        .await;
    assert_eq!(code_and_reason(&answered.unwrap_err()).0, "NOT_FOUND");
}
