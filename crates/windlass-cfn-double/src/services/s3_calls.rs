//! The HTTP of S3, path style: which call a request is, and what it answers.

use std::collections::BTreeMap;

use super::s3::Version;
use crate::clock;
use crate::env::Env;
use crate::error::ApiError;
use crate::wire::{Reply, Request};
use crate::xml::{Element, document};

const NAMESPACE: &str = "http://s3.amazonaws.com/doc/2006-03-01/";
const PAGE: usize = 1000;
/// Request headers that an object keeps and gives back.
const KEPT_HEADERS: [&str; 5] = [
    "content-type",
    "cache-control",
    "content-disposition",
    "content-language",
    "expires",
];

/// One request, taken apart.
pub struct Call<'a> {
    request: &'a Request,
    bucket: String,
    key: String,
    query: BTreeMap<String, String>,
}

impl<'a> Call<'a> {
    pub fn new(request: &'a Request) -> Call<'a> {
        let path = request.path.trim_start_matches('/');
        let (bucket, key) = path.split_once('/').unwrap_or((path, ""));
        Call {
            request,
            bucket: decode(bucket),
            key: decode(key),
            query: url::form_urlencoded::parse(request.query.as_bytes())
                .into_owned()
                .collect(),
        }
    }

    /// The name of the action, as permissions and faults spell it.
    pub fn action(&self) -> String {
        let has = |name: &str| self.query.contains_key(name);
        let named = match (self.request.method.as_str(), self.key.is_empty()) {
            ("GET", true) if self.bucket.is_empty() => "ListBuckets",
            ("GET", true) if has("versions") => "ListObjectVersions",
            ("GET", true) if has("location") => "GetBucketLocation",
            ("PUT", true) if has("versioning") => "PutBucketVersioning",
            ("GET", true) if has("versioning") => "GetBucketVersioning",
            (method, true) if self.setting().is_some() => match method {
                "PUT" => "PutBucketSetting",
                "DELETE" => "DeleteBucketSetting",
                _ => "GetBucketSetting",
            },
            ("GET", true) => "ListObjectsV2",
            ("PUT", true) => "CreateBucket",
            ("HEAD", true) => "HeadBucket",
            ("DELETE", true) => "DeleteBucket",
            ("POST", true) if has("delete") => "DeleteObjects",
            ("PUT", false) if self.request.header("x-amz-copy-source").is_some() => "CopyObject",
            ("PUT", false) => "PutObject",
            ("GET", false) => "GetObject",
            ("HEAD", false) => "HeadObject",
            ("DELETE", false) => "DeleteObject",
            _ => "Unknown",
        };
        named.to_owned()
    }

    /// The sub-resource of a bucket that is stored and given back as it is.
    fn setting(&self) -> Option<&str> {
        const SETTINGS: [&str; 9] = [
            "cors",
            "encryption",
            "lifecycle",
            "notification",
            "ownershipControls",
            "policy",
            "publicAccessBlock",
            "tagging",
            "website",
        ];
        SETTINGS
            .into_iter()
            .find(|name| self.query.contains_key(*name))
    }

    pub fn answer(&self, region: &str, env: &mut Env) -> Result<Reply, ApiError> {
        let action = self.action();
        if action == "CreateBucket" {
            return self.create_bucket(region, env);
        }
        if action == "ListBuckets" {
            return Ok(list_buckets(env));
        }
        if !env.buckets.exists(&self.bucket) {
            return Err(ApiError::new(
                "NoSuchBucket",
                404,
                "The specified bucket does not exist",
            ));
        }
        match action.as_str() {
            "HeadBucket" => Ok(Reply::empty(200).header("x-amz-bucket-region", region)),
            "DeleteBucket" => self.delete_bucket(env),
            "GetBucketLocation" => Ok(self.location(env)),
            "PutBucketVersioning" => Ok(self.put_versioning(env)),
            "GetBucketVersioning" => Ok(self.get_versioning(env)),
            "PutBucketSetting" | "GetBucketSetting" | "DeleteBucketSetting" => self.settings(env),
            "ListObjectsV2" => Ok(self.list(env)),
            "ListObjectVersions" => Ok(self.list_versions(env)),
            "PutObject" => self.put(env),
            "CopyObject" => self.copy(env),
            "GetObject" | "HeadObject" => self.get(env),
            "DeleteObject" => Ok(self.delete(env)),
            "DeleteObjects" => self.delete_many(env),
            _ => Err(ApiError::new(
                "NotImplemented",
                501,
                format!(
                    "The double has no S3 call for {} {}",
                    self.request.method, self.request.path
                ),
            )),
        }
    }

    fn create_bucket(&self, region: &str, env: &mut Env) -> Result<Reply, ApiError> {
        if env.buckets.exists(&self.bucket) {
            return Err(ApiError::new(
                "BucketAlreadyOwnedByYou",
                409,
                "Your previous request to create the named bucket succeeded and you already own it.",
            ));
        }
        env.buckets.create(&self.bucket, region, false, env.now);
        Ok(Reply::empty(200).header("location", format!("/{}", self.bucket)))
    }

    fn delete_bucket(&self, env: &mut Env) -> Result<Reply, ApiError> {
        if env.buckets.has_objects(&self.bucket) {
            return Err(ApiError::new(
                "BucketNotEmpty",
                409,
                "The bucket you tried to delete is not empty",
            ));
        }
        env.buckets.remove(&self.bucket);
        Ok(Reply::empty(204))
    }

    fn location(&self, env: &Env) -> Reply {
        let region = env
            .buckets
            .get(&self.bucket)
            .map(|bucket| bucket.region.clone());
        let region = region
            .filter(|region| region != "us-east-1")
            .unwrap_or_default();
        let text = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<LocationConstraint \
             xmlns=\"{NAMESPACE}\">{region}</LocationConstraint>"
        );
        Reply::new(200, "application/xml", text)
    }

    fn put_versioning(&self, env: &mut Env) -> Reply {
        let body = String::from_utf8_lossy(&self.request.body);
        if let Some(bucket) = env.buckets.get_mut(&self.bucket) {
            bucket.is_versioned = body.contains("<Status>Enabled</Status>");
        }
        Reply::empty(200)
    }

    fn get_versioning(&self, env: &Env) -> Reply {
        let is_versioned = env
            .buckets
            .get(&self.bucket)
            .is_some_and(|bucket| bucket.is_versioned);
        xml(
            "VersioningConfiguration",
            &Element::new().maybe("Status", is_versioned.then_some("Enabled")),
        )
    }

    fn settings(&self, env: &mut Env) -> Result<Reply, ApiError> {
        let name = self.setting().unwrap_or_default().to_owned();
        let Some(bucket) = env.buckets.get_mut(&self.bucket) else {
            return Ok(Reply::empty(404));
        };
        match self.request.method.as_str() {
            "PUT" => {
                bucket.settings.insert(name, self.request.body.clone());
                Ok(Reply::empty(200))
            }
            "DELETE" => {
                bucket.settings.remove(&name);
                Ok(Reply::empty(204))
            }
            _ => match bucket.settings.get(&name) {
                Some(body) => Ok(Reply::new(200, "application/xml", body.clone())),
                None => Err(ApiError::new(
                    "NoSuchConfiguration",
                    404,
                    "The specified configuration does not exist.",
                )),
            },
        }
    }

    fn put(&self, env: &mut Env) -> Result<Reply, ApiError> {
        let body = payload(self.request)?;
        let now = env.now;
        let Some(bucket) = env.buckets.get_mut(&self.bucket) else {
            return Ok(Reply::empty(404));
        };
        if self.request.header("if-none-match") == Some("*") && bucket.current(&self.key).is_some()
        {
            return Err(ApiError::new(
                "PreconditionFailed",
                412,
                "At least one of the pre-conditions you specified did not hold",
            ));
        }
        let headers = self
            .request
            .headers
            .iter()
            .filter(|(name, _)| {
                KEPT_HEADERS.contains(&name.as_str()) || name.starts_with("x-amz-meta-")
            })
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let is_versioned = bucket.is_versioned;
        let version = bucket.put(&self.key, body, headers, now);
        let reply = Reply::empty(200).header("etag", format!("\"{}\"", version.etag));
        Ok(with_version(reply, version, is_versioned))
    }

    fn copy(&self, env: &mut Env) -> Result<Reply, ApiError> {
        let source = decode(self.request.header("x-amz-copy-source").unwrap_or_default());
        let (bucket, key) = source
            .trim_start_matches('/')
            .split_once('/')
            .unwrap_or_default();
        let found = env.buckets.object(bucket, key).cloned();
        let version = found.ok_or_else(no_such_key)?;
        let now = env.now;
        let target = env.buckets.get_mut(&self.bucket).ok_or_else(no_such_key)?;
        let stored = target.put(&self.key, version.body, version.headers, now);
        let body = Element::new()
            .with("ETag", format!("\"{}\"", stored.etag))
            .with("LastModified", clock::iso(now));
        Ok(xml("CopyObjectResult", &body))
    }

    fn get(&self, env: &Env) -> Result<Reply, ApiError> {
        let bucket = env.buckets.get(&self.bucket).ok_or_else(no_such_key)?;
        let version = match self.query.get("versionId") {
            Some(id) => bucket.version(&self.key, id),
            None => bucket.current(&self.key),
        };
        let version = version.ok_or_else(no_such_key)?;
        let mut reply = Reply::empty(200)
            .header("etag", format!("\"{}\"", version.etag))
            .header("last-modified", clock::http_date(version.modified));
        for (name, value) in &version.headers {
            reply = reply.header(name, value);
        }
        if self.request.method == "HEAD" {
            reply = reply.header("content-length", version.body.len().to_string());
        } else {
            reply.body.clone_from(&version.body);
        }
        Ok(with_version(reply, version, bucket.is_versioned))
    }

    fn delete(&self, env: &mut Env) -> Reply {
        let now = env.now;
        let id = self.query.get("versionId").map(String::as_str);
        let done = env
            .buckets
            .get_mut(&self.bucket)
            .and_then(|bucket| bucket.delete(&self.key, id, now));
        match done {
            Some((id, is_marker)) => Reply::empty(204)
                .header("x-amz-version-id", id)
                .header("x-amz-delete-marker", is_marker.to_string()),
            None => Reply::empty(204),
        }
    }

    fn delete_many(&self, env: &mut Env) -> Result<Reply, ApiError> {
        let malformed = || {
            ApiError::new(
                "MalformedXML",
                400,
                "The XML you provided was not well-formed",
            )
        };
        let body = payload(self.request)?;
        let text = String::from_utf8(body).map_err(|_| malformed())?;
        let parsed = roxmltree::Document::parse(&text).map_err(|_| malformed())?;
        let now = env.now;
        let mut deleted = Vec::new();
        for object in parsed
            .descendants()
            .filter(|node| node.tag_name().name() == "Object")
        {
            let field = |name: &str| {
                object
                    .children()
                    .find(|child| child.tag_name().name() == name)
                    .and_then(|child| child.text())
            };
            let Some(key) = field("Key") else { continue };
            if let Some(bucket) = env.buckets.get_mut(&self.bucket) {
                bucket.delete(key, field("VersionId"), now);
            }
            deleted.push(
                Element::new()
                    .with("Key", key)
                    .maybe("VersionId", field("VersionId")),
            );
        }
        let is_quiet = text.contains("<Quiet>true</Quiet>");
        let shown = if is_quiet { Vec::new() } else { deleted };
        Ok(xml("DeleteResult", &Element::new().each("Deleted", shown)))
    }

    fn list(&self, env: &Env) -> Reply {
        let empty = BTreeMap::new();
        let objects = env
            .buckets
            .get(&self.bucket)
            .map_or(&empty, |bucket| &bucket.objects);
        let prefix = self.query.get("prefix").cloned().unwrap_or_default();
        let delimiter = self.query.get("delimiter").filter(|text| !text.is_empty());
        let after = self
            .query
            .get("continuation-token")
            .or_else(|| self.query.get("start-after"))
            .cloned()
            .unwrap_or_default();
        let mut contents = Vec::new();
        let mut folders: Vec<String> = Vec::new();
        let mut next = None;
        for (key, versions) in objects {
            let Some(version) = versions.last().filter(|version| !version.is_marker) else {
                continue;
            };
            if !key.starts_with(&prefix) || (!after.is_empty() && *key <= after) {
                continue;
            }
            if contents.len() + folders.len() == self.page_size() {
                next = Some(());
                break;
            }
            if let Some(delimiter) = delimiter
                && let Some(at) = key[prefix.len()..].find(delimiter.as_str())
            {
                let folder = key[..prefix.len() + at + delimiter.len()].to_owned();
                if !folders.contains(&folder) {
                    folders.push(folder);
                }
                continue;
            }
            contents.push((key.clone(), version));
        }
        let token = next.and(contents.last().map(|(key, _)| key.clone()));
        let body = Element::new()
            .with("Name", &self.bucket)
            .with("Prefix", prefix)
            .with("KeyCount", contents.len() + folders.len())
            .with("MaxKeys", self.page_size())
            .with("IsTruncated", token.is_some())
            .maybe("NextContinuationToken", token)
            .each(
                "Contents",
                contents.iter().map(|(key, version)| {
                    Element::new()
                        .with("Key", key)
                        .with("LastModified", clock::iso(version.modified))
                        .with("ETag", format!("\"{}\"", version.etag))
                        .with("Size", version.body.len())
                        .with("StorageClass", "STANDARD")
                }),
            )
            .each(
                "CommonPrefixes",
                folders
                    .iter()
                    .map(|folder| Element::new().with("Prefix", folder)),
            );
        xml("ListBucketResult", &body)
    }

    fn list_versions(&self, env: &Env) -> Reply {
        let prefix = self.query.get("prefix").cloned().unwrap_or_default();
        let start = (
            self.query.get("key-marker").cloned().unwrap_or_default(),
            self.query
                .get("version-id-marker")
                .cloned()
                .unwrap_or_default(),
        );
        let mut all: Vec<(String, Version, bool)> = Vec::new();
        for (key, versions) in env
            .buckets
            .get(&self.bucket)
            .iter()
            .flat_map(|b| &b.objects)
        {
            if !key.starts_with(&prefix) {
                continue;
            }
            // Newest first within a key.
            for (index, version) in versions.iter().rev().enumerate() {
                all.push((key.clone(), version.clone(), index == 0));
            }
        }
        let from = all
            .iter()
            .position(|(key, version, _)| (key, &version.id) == (&start.0, &start.1))
            .map_or(0, |index| index + 1);
        let page: Vec<_> = all.iter().skip(from).take(self.page_size()).collect();
        let is_cut = from + page.len() < all.len();
        let last = page.last().filter(|_| is_cut);
        let entry = |(key, version, is_latest): &(String, Version, bool)| {
            let entry = Element::new()
                .with("Key", key)
                .with("VersionId", &version.id)
                .with("IsLatest", *is_latest)
                .with("LastModified", clock::iso(version.modified));
            if version.is_marker {
                return entry;
            }
            entry
                .with("ETag", format!("\"{}\"", version.etag))
                .with("Size", version.body.len())
                .with("StorageClass", "STANDARD")
        };
        let of = |is_marker: bool| {
            page.iter()
                .filter(move |(_, version, _)| version.is_marker == is_marker)
                .map(|found| entry(found))
                .collect::<Vec<_>>()
        };
        let body = Element::new()
            .with("Name", &self.bucket)
            .with("Prefix", prefix)
            .with("MaxKeys", self.page_size())
            .with("IsTruncated", is_cut)
            .maybe("NextKeyMarker", last.map(|(key, _, _)| key))
            .maybe(
                "NextVersionIdMarker",
                last.map(|(_, version, _)| &version.id),
            )
            .each("Version", of(false))
            .each("DeleteMarker", of(true));
        xml("ListVersionsResult", &body)
    }

    fn page_size(&self) -> usize {
        self.query
            .get("max-keys")
            .and_then(|text| text.parse().ok())
            .unwrap_or(PAGE)
            .clamp(1, PAGE)
    }
}

fn list_buckets(env: &Env) -> Reply {
    let buckets = env.buckets.iter().map(|(name, bucket)| {
        Element::new()
            .with("Name", name)
            .with("CreationDate", clock::iso(bucket.created))
    });
    let owner = Element::new().with("ID", &env.account);
    let body = Element::new()
        .with("Owner", owner)
        .with("Buckets", Element::new().each("Bucket", buckets));
    xml("ListAllMyBucketsResult", &body)
}

fn with_version(reply: Reply, version: &Version, is_versioned: bool) -> Reply {
    if is_versioned {
        reply.header("x-amz-version-id", &version.id)
    } else {
        reply
    }
}

fn no_such_key() -> ApiError {
    ApiError::new("NoSuchKey", 404, "The specified key does not exist.")
}

fn xml(root: &str, body: &Element) -> Reply {
    Reply::new(200, "application/xml", document(root, NAMESPACE, body))
}

/// An error as S3 writes it; a HEAD has no body to write it in.
pub fn refusal(request: &Request, error: &ApiError, request_id: &str) -> Reply {
    if request.method == "HEAD" {
        return Reply::empty(error.status);
    }
    let body = Element::new()
        .with("Code", &error.code)
        .with("Message", &error.message)
        .with("Resource", &request.path)
        .with("RequestId", request_id);
    Reply::new(
        error.status,
        "application/xml",
        document("Error", "", &body),
    )
}

fn decode(text: &str) -> String {
    // Form decoding knows `+` as a space; in a path it is a plus.
    let escaped = format!(
        "k={}",
        text.replace('+', "%2B")
            .replace('&', "%26")
            .replace('=', "%3D")
    );
    url::form_urlencoded::parse(escaped.as_bytes())
        .next()
        .map(|(_, value)| value.into_owned())
        .unwrap_or_default()
}

/// The body, taken out of `aws-chunked` framing when it came in it.
fn payload(request: &Request) -> Result<Vec<u8>, ApiError> {
    let is_framed = request
        .header("content-encoding")
        .is_some_and(|encoding| encoding.contains("aws-chunked"))
        || request
            .header("x-amz-content-sha256")
            .is_some_and(|digest| digest.starts_with("STREAMING-"));
    if !is_framed {
        return Ok(request.body.clone());
    }
    unframe(&request.body)
        .ok_or_else(|| ApiError::new("IncompleteBody", 400, "The chunked body is not well-formed"))
}

/// `size[;extension]\r\n bytes \r\n … 0[;…]\r\n trailers`
fn unframe(mut framed: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let end = framed.windows(2).position(|pair| pair == b"\r\n")?;
        let head = std::str::from_utf8(&framed[..end]).ok()?;
        let size = usize::from_str_radix(head.split(';').next()?.trim(), 16).ok()?;
        framed = &framed[end + 2..];
        if size == 0 {
            return Some(body);
        }
        body.extend_from_slice(framed.get(..size)?);
        framed = framed.get(size + 2..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn framed_bodies_are_unframed() {
        let cases: [(&[u8], Option<&[u8]>); 4] = [
            (
                b"5\r\nhello\r\n0\r\nx-amz-checksum-crc32:AAAA\r\n\r\n",
                Some(b"hello"),
            ),
            (
                b"3;chunk-signature=ab\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
                Some(b"abcde"),
            ),
            (b"0\r\n\r\n", Some(b"")),
            (b"9\r\nshort\r\n", None),
        ];
        for (framed, expected) in cases {
            assert_eq!(unframe(framed).as_deref(), expected);
        }
    }

    #[test]
    fn keys_are_decoded() {
        assert_eq!(decode("a%20b/c+d%2F%C3%A9=&"), "a b/c+d/é=&");
    }
}
