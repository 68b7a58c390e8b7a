//! Signed calls of every protocol against moto: secrets, parameters, logs, metrics, tables.

use serde_json::{Value, json};
use windlass_ports::aws::{ActionShape, Body, Place, ServiceShape, services};

use super::moto::{Moto, call, now};

const fn action(service: &'static ServiceShape, name: &'static str) -> ActionShape {
    ActionShape::new(service, name)
}

#[tokio::test]
async fn secrets_parameters_logs_metrics_and_tables() {
    let Some(moto) = Moto::start() else { return };
    let aws = moto.aws("test", "test");

    // Secrets Manager
    let secrets = &services::SECRETSMANAGER;
    let create = json!({ "Name": "api-key", "SecretString": "s3cr3t-value" });
    let made = call(&aws, action(secrets, "CreateSecret"), create.clone())
        .await
        .unwrap();
    assert!(made["ARN"].as_str().unwrap().contains(":secret:api-key"));
    let twice = call(&aws, action(secrets, "CreateSecret"), create)
        .await
        .unwrap_err();
    assert_eq!(twice.code, "ResourceExistsException");
    assert!(twice.is_already_exists());
    let read = call(
        &aws,
        action(secrets, "GetSecretValue"),
        json!({ "SecretId": "api-key" }),
    )
    .await
    .unwrap();
    assert_eq!(read["SecretString"], "s3cr3t-value");
    let gone = call(
        &aws,
        action(secrets, "GetSecretValue"),
        json!({ "SecretId": "none" }),
    )
    .await
    .unwrap_err();
    assert!(gone.is_not_found(), "{gone}");
    assert_eq!(gone.action, "secretsmanager:GetSecretValue");

    // Systems Manager
    let put = json!({ "Name": "/shop/url", "Value": "http://x", "Type": "String" });
    call(&aws, action(&services::SSM, "PutParameter"), put)
        .await
        .unwrap();
    let read = call(
        &aws,
        action(&services::SSM, "GetParameter"),
        json!({ "Name": "/shop/url" }),
    )
    .await
    .unwrap();
    assert_eq!(read["Parameter"]["Value"], "http://x");
    let gone = call(
        &aws,
        action(&services::SSM, "GetParameter"),
        json!({ "Name": "/none" }),
    )
    .await
    .unwrap_err();
    assert!(gone.is_not_found(), "{gone}");

    // Logs
    let logs = &services::LOGS;
    let group = "/aws/lambda/shop-dev-api";
    let stream = json!({ "logGroupName": group, "logStreamName": "s" });
    call(
        &aws,
        action(logs, "CreateLogGroup"),
        json!({ "logGroupName": group }),
    )
    .await
    .unwrap();
    call(&aws, action(logs, "CreateLogStream"), stream)
        .await
        .unwrap();
    let time = now().as_millis();
    let events = json!({ "logGroupName": group, "logStreamName": "s", "logEvents": [
        { "timestamp": time, "message": "started" },
        { "timestamp": time + 1, "message": "order failed: no stock" },
    ] });
    call(&aws, action(logs, "PutLogEvents"), events)
        .await
        .unwrap();
    let filter = json!({ "logGroupName": group, "filterPattern": "\"order failed\"" });
    let found = call(&aws, action(logs, "FilterLogEvents"), filter)
        .await
        .unwrap();
    assert_eq!(found["events"].as_array().unwrap().len(), 1);
    assert_eq!(found["events"][0]["message"], "order failed: no stock");
    let none = json!({ "logGroupName": "/none" });
    let gone = call(&aws, action(logs, "FilterLogEvents"), none)
        .await
        .unwrap_err();
    assert!(gone.is_not_found(), "{gone}");

    // CloudWatch
    let moment = now().to_string();
    let metric = json!({ "Namespace": "Shop", "MetricData": [
        { "MetricName": "Orders", "Value": 2, "Unit": "Count", "Timestamp": moment },
        { "MetricName": "Orders", "Value": 3.5, "Unit": "Count", "Timestamp": moment },
    ] });
    call(&aws, action(&services::CLOUDWATCH, "PutMetricData"), metric)
        .await
        .unwrap();
    let statistics = action(&services::CLOUDWATCH, "GetMetricStatistics")
        .with_lists(&["Datapoints"], &[])
        .with_scalars(&["Sum"], &[]);
    let hour = std::time::Duration::from_secs(3600);
    let asked = json!({
        "Namespace": "Shop", "MetricName": "Orders", "Statistics": ["Sum"], "Period": 7200,
        "StartTime": now().before(hour).to_string(), "EndTime": now().after(hour).to_string(),
    });
    let found = call(&aws, statistics, asked).await.unwrap();
    assert_eq!(found["Datapoints"][0]["Sum"], json!(5.5), "{found}");
    assert_eq!(found["Datapoints"][0]["Unit"], "Count");

    tables(&aws).await;
    rest(&aws).await;
}

async fn tables(aws: &windlass_aws::Aws) {
    let dynamo = |name| action(&services::DYNAMODB, name);
    let create = json!({
        "TableName": "items", "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [
            { "AttributeName": "id", "KeyType": "HASH" }, { "AttributeName": "n", "KeyType": "RANGE" },
        ],
        "AttributeDefinitions": [
            { "AttributeName": "id", "AttributeType": "S" }, { "AttributeName": "n", "AttributeType": "N" },
        ],
    });
    call(aws, dynamo("CreateTable"), create).await.unwrap();
    let key = |number: u32| json!({ "id": { "S": "a" }, "n": { "N": number.to_string() } });
    for number in 1..=3 {
        let put = json!({ "TableName": "items", "Item": key(number) });
        call(aws, dynamo("PutItem"), put).await.unwrap();
    }
    let get = json!({ "TableName": "items", "Key": key(2) });
    let found = call(aws, dynamo("GetItem"), get).await.unwrap();
    assert_eq!(found["Item"], key(2));
    let query = json!({
        "TableName": "items", "Limit": 2, "KeyConditionExpression": "id = :id",
        "ExpressionAttributeValues": { ":id": { "S": "a" } },
    });
    let page = call(aws, dynamo("Query"), query).await.unwrap();
    assert_eq!(
        (page["Count"].clone(), page["LastEvaluatedKey"].clone()),
        (json!(2), key(2))
    );
    let scan = call(aws, dynamo("Scan"), json!({ "TableName": "items" }))
        .await
        .unwrap();
    assert_eq!(scan["Count"], 3);
    let gone = call(aws, dynamo("Scan"), json!({ "TableName": "none" }))
        .await
        .unwrap_err();
    assert_eq!(gone.code, "ResourceNotFoundException");
}

/// EC2's query form, REST with JSON and REST with XML.
async fn rest(aws: &windlass_aws::Aws) {
    let vpcs = action(&services::EC2, "DescribeVpcs")
        .with_list_names(&[("Filters", "Filter"), ("Values", "Value")]);
    let filter = json!({ "Filters": [{ "Name": "isDefault", "Values": ["true"] }] });
    let found = call(aws, vpcs, filter).await.unwrap();
    assert_eq!(found["vpcSet"].as_array().map(Vec::len), Some(1), "{found}");

    let functions = ActionShape::rest(
        &services::LAMBDA,
        "ListFunctions",
        "GET",
        "/2015-03-31/functions/",
        &[("MaxItems", Place::Query("MaxItems"))],
    );
    let found = call(aws, functions, json!({ "MaxItems": 5 }))
        .await
        .unwrap();
    assert_eq!(found["Functions"], json!([]));
    let one = ActionShape::rest(
        &services::LAMBDA,
        "GetFunctionConfiguration",
        "GET",
        "/2015-03-31/functions/{FunctionName}/configuration",
        &[],
    );
    let gone = call(aws, one, json!({ "FunctionName": "none" }))
        .await
        .unwrap_err();
    assert!(gone.is_not_found(), "{gone}");

    let make = ActionShape::rest(
        &services::S3,
        "CreateBucket",
        "PUT",
        "/{Bucket}",
        &[("CreateBucketConfiguration", Place::Payload)],
    );
    let place = json!({ "LocationConstraint": "eu-west-1" });
    call(
        aws,
        make,
        json!({ "Bucket": "b-1", "CreateBucketConfiguration": place }),
    )
    .await
    .unwrap();
    let location = ActionShape::rest(
        &services::S3,
        "GetBucketLocation",
        "GET",
        "/{Bucket}?location",
        &[],
    );
    let found = call(aws, location, json!({ "Bucket": "b-1" }))
        .await
        .unwrap();
    assert_eq!(found["LocationConstraint"], "eu-west-1");
    let head = ActionShape::rest(&services::S3, "HeadBucket", "HEAD", "/{Bucket}", &[])
        .with_result_headers(&[("x-amz-bucket-region", "BucketRegion")], Body::Empty);
    let found = call(aws, head, json!({ "Bucket": "b-1" })).await.unwrap();
    assert_eq!(found["BucketRegion"], "eu-west-1");
    let gone = call(aws, head, json!({ "Bucket": "b-2" }))
        .await
        .unwrap_err();
    assert!(gone.is_not_found(), "{gone}");
    let buckets = ActionShape::rest(&services::S3, "ListBuckets", "GET", "/", &[])
        .with_lists(&["Buckets"], &[]);
    let found = call(aws, buckets, Value::Null).await.unwrap();
    assert_eq!(found["Buckets"][0]["Name"], "b-1");
}
