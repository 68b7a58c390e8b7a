//! REST services: method, path, and where each member of the input goes.
//!
//! Facts of AWS's public API. A line here is a permission: nothing that writes or shows a secret.

use windlass_ports::aws::Place::{Header, Query};
use windlass_ports::aws::services::{
    APIGATEWAYV2, BATCH, CLOUDFRONT, LAMBDA, OPENSEARCH, ROUTE53, S3,
};
use windlass_ports::aws::{ActionShape, Body};

use super::{Allowed, masked, masks, plain};

pub(super) static ACTIONS: &[Allowed] = &[
    masked(
        ActionShape::rest(
            &LAMBDA,
            "ListFunctions",
            "GET",
            "/2015-03-31/functions",
            &[
                ("MasterRegion", Query("MasterRegion")),
                ("FunctionVersion", Query("FunctionVersion")),
                ("Marker", Query("Marker")),
                ("MaxItems", Query("MaxItems")),
            ],
        ),
        masks::VARIABLES,
    ),
    masked(
        ActionShape::rest(
            &LAMBDA,
            "GetFunctionConfiguration",
            "GET",
            "/2015-03-31/functions/{FunctionName}/configuration",
            &[("Qualifier", Query("Qualifier"))],
        ),
        masks::VARIABLES,
    ),
    plain(ActionShape::rest(
        &LAMBDA,
        "GetFunctionConcurrency",
        "GET",
        "/2019-09-30/functions/{FunctionName}/concurrency",
        &[],
    )),
    plain(ActionShape::rest(
        &LAMBDA,
        "GetPolicy",
        "GET",
        "/2015-03-31/functions/{FunctionName}/policy",
        &[("Qualifier", Query("Qualifier"))],
    )),
    plain(ActionShape::rest(
        &LAMBDA,
        "ListAliases",
        "GET",
        "/2015-03-31/functions/{FunctionName}/aliases",
        &[
            ("FunctionVersion", Query("FunctionVersion")),
            ("Marker", Query("Marker")),
            ("MaxItems", Query("MaxItems")),
        ],
    )),
    masked(
        ActionShape::rest(
            &LAMBDA,
            "ListVersionsByFunction",
            "GET",
            "/2015-03-31/functions/{FunctionName}/versions",
            &[("Marker", Query("Marker")), ("MaxItems", Query("MaxItems"))],
        ),
        masks::VARIABLES,
    ),
    plain(ActionShape::rest(
        &LAMBDA,
        "ListEventSourceMappings",
        "GET",
        "/2015-03-31/event-source-mappings",
        &[
            ("EventSourceArn", Query("EventSourceArn")),
            ("FunctionName", Query("FunctionName")),
            ("Marker", Query("Marker")),
            ("MaxItems", Query("MaxItems")),
        ],
    )),
    plain(ActionShape::rest(
        &LAMBDA,
        "GetFunctionUrlConfig",
        "GET",
        "/2021-10-31/functions/{FunctionName}/url",
        &[("Qualifier", Query("Qualifier"))],
    )),
    plain(
        ActionShape::rest(
            &S3,
            "ListBuckets",
            "GET",
            "/",
            &[
                ("MaxBuckets", Query("max-buckets")),
                ("ContinuationToken", Query("continuation-token")),
                ("Prefix", Query("prefix")),
                ("BucketRegion", Query("bucket-region")),
            ],
        )
        .with_lists(&["Buckets"], &[]),
    ),
    plain(
        ActionShape::rest(
            &S3,
            "ListObjectsV2",
            "GET",
            "/{Bucket}?list-type=2",
            &[
                ("Delimiter", Query("delimiter")),
                ("EncodingType", Query("encoding-type")),
                ("MaxKeys", Query("max-keys")),
                ("Prefix", Query("prefix")),
                ("ContinuationToken", Query("continuation-token")),
                ("FetchOwner", Query("fetch-owner")),
                ("StartAfter", Query("start-after")),
                ("ExpectedBucketOwner", Header("x-amz-expected-bucket-owner")),
            ],
        )
        .with_lists(&[], &["ChecksumAlgorithm", "CommonPrefixes", "Contents"])
        .with_scalars(
            &["KeyCount", "MaxKeys", "Size"],
            &["IsRestoreInProgress", "IsTruncated"],
        ),
    ),
    plain(
        ActionShape::rest(
            &S3,
            "HeadBucket",
            "HEAD",
            "/{Bucket}",
            &[("ExpectedBucketOwner", Header("x-amz-expected-bucket-owner"))],
        )
        .with_result_headers(
            &[
                ("x-amz-bucket-arn", "BucketArn"),
                ("x-amz-bucket-location-type", "BucketLocationType"),
                ("x-amz-bucket-location-name", "BucketLocationName"),
                ("x-amz-bucket-region", "BucketRegion"),
                ("x-amz-access-point-alias", "AccessPointAlias"),
            ],
            Body::Empty,
        ),
    ),
    plain(
        ActionShape::rest(
            &S3,
            "HeadObject",
            "HEAD",
            "/{Bucket}/{Key+}",
            &[
                ("VersionId", Query("versionId")),
                ("PartNumber", Query("partNumber")),
                ("ExpectedBucketOwner", Header("x-amz-expected-bucket-owner")),
            ],
        )
        .with_result_headers(
            &[
                ("x-amz-delete-marker", "DeleteMarker"),
                ("accept-ranges", "AcceptRanges"),
                ("x-amz-expiration", "Expiration"),
                ("x-amz-restore", "Restore"),
                ("x-amz-archive-status", "ArchiveStatus"),
                ("last-modified", "LastModified"),
                ("content-length", "ContentLength"),
                ("etag", "ETag"),
                ("x-amz-missing-meta", "MissingMeta"),
                ("x-amz-version-id", "VersionId"),
                ("cache-control", "CacheControl"),
                ("content-disposition", "ContentDisposition"),
                ("content-encoding", "ContentEncoding"),
                ("content-language", "ContentLanguage"),
                ("content-type", "ContentType"),
                ("content-range", "ContentRange"),
                ("expires", "Expires"),
                ("x-amz-website-redirect-location", "WebsiteRedirectLocation"),
                ("x-amz-server-side-encryption", "ServerSideEncryption"),
                ("x-amz-server-side-encryption-aws-kms-key-id", "SSEKMSKeyId"),
                (
                    "x-amz-server-side-encryption-bucket-key-enabled",
                    "BucketKeyEnabled",
                ),
                ("x-amz-storage-class", "StorageClass"),
                ("x-amz-request-charged", "RequestCharged"),
                ("x-amz-replication-status", "ReplicationStatus"),
                ("x-amz-mp-parts-count", "PartsCount"),
                ("x-amz-tagging-count", "TagCount"),
                ("x-amz-object-lock-mode", "ObjectLockMode"),
                (
                    "x-amz-object-lock-retain-until-date",
                    "ObjectLockRetainUntilDate",
                ),
                ("x-amz-object-lock-legal-hold", "ObjectLockLegalHoldStatus"),
                ("x-amz-object-lock-event-hold", "ObjectLockEventHold"),
                (
                    "x-amz-object-lock-event-hold-duration-days",
                    "ObjectLockEventHoldDurationDays",
                ),
                (
                    "x-amz-object-lock-event-hold-duration-years",
                    "ObjectLockEventHoldDurationYears",
                ),
            ],
            Body::Empty,
        ),
    ),
    plain(ActionShape::rest(
        &S3,
        "GetBucketLocation",
        "GET",
        "/{Bucket}?location",
        &[("ExpectedBucketOwner", Header("x-amz-expected-bucket-owner"))],
    )),
    plain(ActionShape::rest(
        &S3,
        "GetBucketVersioning",
        "GET",
        "/{Bucket}?versioning",
        &[("ExpectedBucketOwner", Header("x-amz-expected-bucket-owner"))],
    )),
    plain(
        ActionShape::rest(
            &S3,
            "GetBucketEncryption",
            "GET",
            "/{Bucket}?encryption",
            &[("ExpectedBucketOwner", Header("x-amz-expected-bucket-owner"))],
        )
        .with_lists(&[], &["EncryptionType", "Rule"])
        .with_scalars(&[], &["BucketKeyEnabled"]),
    ),
    plain(
        ActionShape::rest(
            &S3,
            "GetBucketLifecycleConfiguration",
            "GET",
            "/{Bucket}?lifecycle",
            &[("ExpectedBucketOwner", Header("x-amz-expected-bucket-owner"))],
        )
        .with_lists(
            &[],
            &["NoncurrentVersionTransition", "Rule", "Tag", "Transition"],
        )
        .with_scalars(
            &[
                "Days",
                "DaysAfterInitiation",
                "NewerNoncurrentVersions",
                "NoncurrentDays",
                "ObjectSizeGreaterThan",
                "ObjectSizeLessThan",
            ],
            &["ExpiredObjectDeleteMarker"],
        ),
    ),
    plain(
        ActionShape::rest(
            &S3,
            "GetBucketPolicyStatus",
            "GET",
            "/{Bucket}?policyStatus",
            &[("ExpectedBucketOwner", Header("x-amz-expected-bucket-owner"))],
        )
        .with_scalars(&[], &["IsPublic"]),
    ),
    plain(
        ActionShape::rest(
            &S3,
            "GetBucketCors",
            "GET",
            "/{Bucket}?cors",
            &[("ExpectedBucketOwner", Header("x-amz-expected-bucket-owner"))],
        )
        .with_lists(
            &[],
            &[
                "AllowedHeader",
                "AllowedMethod",
                "AllowedOrigin",
                "CORSRule",
                "ExposeHeader",
            ],
        )
        .with_scalars(&["MaxAgeSeconds"], &[]),
    ),
    plain(
        ActionShape::rest(
            &S3,
            "GetBucketTagging",
            "GET",
            "/{Bucket}?tagging",
            &[("ExpectedBucketOwner", Header("x-amz-expected-bucket-owner"))],
        )
        .with_lists(&["TagSet"], &[]),
    ),
    plain(
        ActionShape::rest(
            &S3,
            "GetPublicAccessBlock",
            "GET",
            "/{Bucket}?publicAccessBlock",
            &[("ExpectedBucketOwner", Header("x-amz-expected-bucket-owner"))],
        )
        .with_scalars(
            &[],
            &[
                "BlockPublicAcls",
                "BlockPublicPolicy",
                "IgnorePublicAcls",
                "RestrictPublicBuckets",
            ],
        ),
    ),
    masked(
        ActionShape::rest(&BATCH, "DescribeJobs", "POST", "/v1/describejobs", &[]),
        masks::CONTAINERS,
    ),
    plain(ActionShape::rest(
        &BATCH,
        "ListJobs",
        "POST",
        "/v1/listjobs",
        &[],
    )),
    plain(ActionShape::rest(
        &BATCH,
        "DescribeJobQueues",
        "POST",
        "/v1/describejobqueues",
        &[],
    )),
    masked(
        ActionShape::rest(
            &BATCH,
            "DescribeJobDefinitions",
            "POST",
            "/v1/describejobdefinitions",
            &[],
        ),
        masks::CONTAINERS,
    ),
    plain(ActionShape::rest(
        &BATCH,
        "DescribeComputeEnvironments",
        "POST",
        "/v1/describecomputeenvironments",
        &[],
    )),
    plain(ActionShape::rest(
        &OPENSEARCH,
        "ListDomainNames",
        "GET",
        "/2021-01-01/domain",
        &[("EngineType", Query("engineType"))],
    )),
    plain(ActionShape::rest(
        &OPENSEARCH,
        "DescribeDomain",
        "GET",
        "/2021-01-01/opensearch/domain/{DomainName}",
        &[],
    )),
    plain(ActionShape::rest(
        &OPENSEARCH,
        "DescribeDomainHealth",
        "GET",
        "/2021-01-01/opensearch/domain/{DomainName}/health",
        &[],
    )),
    plain(ActionShape::rest(
        &APIGATEWAYV2,
        "GetApis",
        "GET",
        "/v2/apis",
        &[
            ("MaxResults", Query("maxResults")),
            ("NextToken", Query("nextToken")),
        ],
    )),
    plain(ActionShape::rest(
        &APIGATEWAYV2,
        "GetRoutes",
        "GET",
        "/v2/apis/{ApiId}/routes",
        &[
            ("MaxResults", Query("maxResults")),
            ("NextToken", Query("nextToken")),
        ],
    )),
    plain(ActionShape::rest(
        &APIGATEWAYV2,
        "GetIntegrations",
        "GET",
        "/v2/apis/{ApiId}/integrations",
        &[
            ("MaxResults", Query("maxResults")),
            ("NextToken", Query("nextToken")),
        ],
    )),
    masked(
        ActionShape::rest(
            &APIGATEWAYV2,
            "GetStages",
            "GET",
            "/v2/apis/{ApiId}/stages",
            &[
                ("MaxResults", Query("maxResults")),
                ("NextToken", Query("nextToken")),
            ],
        ),
        masks::STAGE_VARIABLES,
    ),
    plain(ActionShape::rest(
        &APIGATEWAYV2,
        "GetDomainNames",
        "GET",
        "/v2/domainnames",
        &[
            ("MaxResults", Query("maxResults")),
            ("NextToken", Query("nextToken")),
        ],
    )),
    masked(
        ActionShape::rest(
            &CLOUDFRONT,
            "ListDistributions",
            "GET",
            "/2020-05-31/distribution",
            &[("Marker", Query("Marker")), ("MaxItems", Query("MaxItems"))],
        )
        .with_lists(&["AliasICPRecordals", "Items"], &[])
        .with_scalars(
            &[
                "ConnectionAttempts",
                "ConnectionTimeout",
                "DefaultTTL",
                "ErrorCachingMinTTL",
                "ErrorCode",
                "HTTPPort",
                "HTTPSPort",
                "MaxItems",
                "MaxTTL",
                "MinTTL",
                "OriginKeepaliveTimeout",
                "OriginReadTimeout",
                "Quantity",
                "ResponseCompletionTimeout",
            ],
            &[
                "AdvertiseTrustStoreCaNames",
                "CloudFrontDefaultCertificate",
                "Compress",
                "Enabled",
                "IgnoreCertificateExpiry",
                "IncludeBody",
                "IsIPV6Enabled",
                "IsTruncated",
                "QueryString",
                "SmoothStreaming",
                "Staging",
            ],
        ),
        masks::ORIGIN_HEADERS,
    ),
    masked(
        ActionShape::rest(
            &CLOUDFRONT,
            "GetDistribution",
            "GET",
            "/2020-05-31/distribution/{Id}",
            &[],
        )
        .with_lists(&["AliasICPRecordals", "Items"], &[])
        .with_scalars(
            &[
                "ConnectionAttempts",
                "ConnectionTimeout",
                "DefaultTTL",
                "ErrorCachingMinTTL",
                "ErrorCode",
                "HTTPPort",
                "HTTPSPort",
                "InProgressInvalidationBatches",
                "MaxTTL",
                "MinTTL",
                "OriginKeepaliveTimeout",
                "OriginReadTimeout",
                "Quantity",
                "ResponseCompletionTimeout",
            ],
            &[
                "AdvertiseTrustStoreCaNames",
                "CloudFrontDefaultCertificate",
                "Compress",
                "Enabled",
                "IgnoreCertificateExpiry",
                "IncludeBody",
                "IncludeCookies",
                "IsIPV6Enabled",
                "QueryString",
                "Required",
                "SmoothStreaming",
                "Staging",
            ],
        ),
        masks::ORIGIN_HEADERS,
    ),
    plain(
        ActionShape::rest(
            &ROUTE53,
            "ListHostedZones",
            "GET",
            "/2013-04-01/hostedzone",
            &[
                ("Marker", Query("marker")),
                ("MaxItems", Query("maxitems")),
                ("DelegationSetId", Query("delegationsetid")),
                ("HostedZoneType", Query("hostedzonetype")),
            ],
        )
        .with_lists(&["HostedZones"], &[])
        .with_scalars(&["ResourceRecordSetCount"], &["IsTruncated", "PrivateZone"]),
    ),
    plain(
        ActionShape::rest(
            &ROUTE53,
            "ListResourceRecordSets",
            "GET",
            "/2013-04-01/hostedzone/{HostedZoneId}/rrset",
            &[
                ("StartRecordName", Query("name")),
                ("StartRecordType", Query("type")),
                ("StartRecordIdentifier", Query("identifier")),
                ("MaxItems", Query("maxitems")),
            ],
        )
        .with_lists(&["ResourceRecordSets", "ResourceRecords"], &[])
        .with_scalars(
            &["Bias", "TTL", "Weight"],
            &["EvaluateTargetHealth", "IsTruncated", "MultiValueAnswer"],
        ),
    ),
];
