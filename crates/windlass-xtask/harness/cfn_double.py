"""Drives the CloudFormation double with boto3: a client that knows nothing of Windlass.

Started by `cargo xtask test` with the double's program; prints one line per check and exits with a
traceback on the first answer that is not as expected. Every call moves the double's clock, so
waiters poll without waiting.
"""

import argparse
import collections
import json
import subprocess
import urllib.request
import xml.etree.ElementTree

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError, WaiterError

POLL = {"Delay": 0, "MaxAttempts": 200}
REGION = "eu-west-1"
# How many answers of each action were compared with the API's model.
COMPARED: collections.Counter = collections.Counter()


def template(table="orders", memory=128, **more) -> str:
    """A function that reads a table; `more` are further resources."""
    resources = {
        "Role": {
            "Type": "AWS::IAM::Role",
            "Properties": {"AssumeRolePolicyDocument": {"Statement": []}},
        },
        "Table": {
            "Type": "AWS::DynamoDB::Table",
            "Properties": {
                "TableName": table,
                "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
            },
        },
        "Api": {
            "Type": "AWS::Lambda::Function",
            "Properties": {
                "Code": {"S3Bucket": "assets", "S3Key": "code.zip"},
                "Role": {"Fn::GetAtt": ["Role", "Arn"]},
                "MemorySize": memory,
                "Environment": {"Variables": {"TABLE": {"Ref": "Table"}}},
            },
        },
    }
    resources.update(more)
    outputs = {"ApiName": {"Value": {"Ref": "Api"}}}
    return json.dumps({"Resources": resources, "Outputs": outputs})


def unknown_elements(element, shape, path: str) -> list[str]:
    """Elements of an answer that the client's own model of the service does not know."""
    found = []
    for child in element:
        name = child.tag.rsplit("}", 1)[-1]
        if shape.type_name == "list":
            inner = shape.member if name == "member" else None
        else:
            inner = getattr(shape, "members", {}).get(name)
        here = f"{path}.{name}"
        found += unknown_elements(child, inner, here) if inner else [here]
    return found


def check_shape(operation_model, response_dict, **_) -> None:
    """Every answer, before boto3 reads it: nothing in it may be foreign to AWS's API."""
    shape = operation_model.output_shape
    if response_dict["status_code"] != 200 or shape is None:
        return
    root = xml.etree.ElementTree.fromstring(response_dict["body"])
    wrapper = shape.serialization["resultWrapper"]
    results = [child for child in root if child.tag.endswith("}" + wrapper)]
    assert results, f"{operation_model.name} has no {wrapper}"
    unknown = unknown_elements(results[0], shape, operation_model.name)
    assert not unknown, f"not in the API: {unknown}"
    COMPARED[operation_model.name] += 1


class Check:
    """A double, a client of each service, and the steps of a stack's life."""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint
        config = Config(region_name=REGION, retries={"mode": "standard", "max_attempts": 4})
        session = boto3.Session(aws_access_key_id="AKIDEXAMPLE", aws_secret_access_key="none")
        self.client = lambda name: session.client(name, endpoint_url=endpoint, config=config)
        self.stacks = self.client("cloudformation")
        self.stacks.meta.events.register("before-parse.cloudformation", check_shape)

    def command(self, verb: str, **body) -> None:
        request = urllib.request.Request(
            f"{self.endpoint}/_double/{verb}", json.dumps(body).encode(), method="POST"
        )
        urllib.request.urlopen(request).close()

    def state(self) -> dict:
        with urllib.request.urlopen(f"{self.endpoint}/_double/state") as answer:
            return json.load(answer)

    def status(self) -> str:
        return self.stacks.describe_stacks(StackName="shop")["Stacks"][0]["StackStatus"]

    def change_set(self, name: str, body: str, kind="UPDATE") -> list:
        made = self.stacks.create_change_set(
            StackName="shop",
            ChangeSetName=name,
            ChangeSetType=kind,
            TemplateBody=body,
            Capabilities=["CAPABILITY_IAM"],
        )
        waiter = self.stacks.get_waiter("change_set_create_complete")
        waiter.wait(ChangeSetName=made["Id"], WaiterConfig=POLL)
        pages = []
        answer = {"NextToken": None}
        while "NextToken" in answer:
            more = {"NextToken": answer["NextToken"]} if answer["NextToken"] else {}
            answer = self.stacks.describe_change_set(
                ChangeSetName=made["Id"], IncludePropertyValues=True, **more
            )
            pages += answer["Changes"]
        return [change["ResourceChange"] for change in pages]

    def execute(self, name: str) -> None:
        self.stacks.execute_change_set(
            StackName="shop", ChangeSetName=name, ClientRequestToken=name
        )

    def wait(self, waiter: str, stack="shop") -> None:
        self.stacks.get_waiter(waiter).wait(StackName=stack, WaiterConfig=POLL)

    def events(self, token: str) -> list:
        pages = self.stacks.get_paginator("describe_stack_events").paginate(StackName="shop")
        events = [event for page in pages for event in page["StackEvents"]]
        events.reverse()
        return [event for event in events if event.get("ClientRequestToken") == token]


def services(check: Check) -> None:
    identity = check.client("sts").get_caller_identity()
    assert identity["Account"] == "123456789012", identity
    store = check.client("s3")
    store.create_bucket(
        Bucket="assets", CreateBucketConfiguration={"LocationConstraint": REGION}
    )
    store.put_object(Bucket="assets", Key="code.zip", Body=b"PK" * 100)
    assert store.get_object(Bucket="assets", Key="code.zip")["Body"].read() == b"PK" * 100
    assert store.head_object(Bucket="assets", Key="code.zip")["ContentLength"] == 200
    pages = store.get_paginator("list_objects_v2").paginate(
        Bucket="assets", PaginationConfig={"PageSize": 1}
    )
    assert [item["Key"] for page in pages for item in page.get("Contents", [])] == ["code.zip"]
    secrets = check.client("secretsmanager")
    secrets.create_secret(Name="db", SecretString="s3cret")
    assert secrets.get_secret_value(SecretId="db")["SecretString"] == "s3cret"
    missing = check.client("ssm").get_parameters(Names=["/none"])
    assert missing["InvalidParameters"] == ["/none"], missing


def create(check: Check) -> None:
    changes = check.change_set("first", template(), "CREATE")
    assert [change["Action"] for change in changes] == ["Add"] * 3, changes
    assert check.status() == "REVIEW_IN_PROGRESS"
    check.execute("first")
    check.wait("stack_create_complete")
    events = check.events("first")
    kinds = [(event["LogicalResourceId"], event["ResourceStatus"]) for event in events]
    assert kinds[0] == ("shop", "CREATE_IN_PROGRESS"), kinds
    assert kinds[-1] == ("shop", "CREATE_COMPLETE"), kinds
    assert kinds.index(("Table", "CREATE_COMPLETE")) < kinds.index(("Api", "CREATE_IN_PROGRESS"))
    stack = check.stacks.describe_stacks(StackName="shop")["Stacks"][0]
    assert stack["Outputs"][0]["OutputValue"].startswith("shop-Api-"), stack


def no_change(check: Check) -> None:
    try:
        check.change_set("same", template())
        raise AssertionError("an empty change set was made")
    except WaiterError as error:
        answer = error.last_response
    assert answer["Status"] == "FAILED" and answer["ExecutionStatus"] == "UNAVAILABLE", answer
    assert "didn't contain changes" in answer["StatusReason"], answer
    check.stacks.delete_change_set(StackName="shop", ChangeSetName="same")


def update(check: Check) -> None:
    (change,) = check.change_set("memory", template(memory=512))
    assert change["Replacement"] == "False" and change["Scope"] == ["Properties"], change
    target = change["Details"][0]["Target"]
    assert (target["BeforeValue"], target["AfterValue"]) == ("128", "512"), target
    check.execute("memory")
    check.wait("stack_update_complete")


def replacement(check: Check) -> None:
    changes = {change["LogicalResourceId"]: change for change in check.change_set(
        "table", template("orders2", memory=512)
    )}
    assert changes["Table"]["Replacement"] == "True", changes
    assert changes["Table"]["PolicyAction"] == "ReplaceAndDelete", changes
    assert changes["Table"]["Details"][0]["Target"]["RequiresRecreation"] == "Always", changes
    assert changes["Api"]["Details"][0]["Evaluation"] == "Dynamic", changes
    check.execute("table")
    check.wait("stack_update_complete")
    resource = check.stacks.describe_stack_resource(StackName="shop", LogicalResourceId="Table")
    assert resource["StackResourceDetail"]["PhysicalResourceId"] == "orders2", resource
    states = [event["ResourceStatus"] for event in check.events("table")]
    assert "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS" in states and "DELETE_COMPLETE" in states, states


def failed_update(check: Check) -> None:
    check.command(
        "fail-resource",
        logical_id="Api",
        on="update",
        effect={"kind": "fail", "reason": "The runtime is not supported"},
    )
    check.change_set("broken", template("orders2", memory=1024, Queue={"Type": "AWS::SQS::Queue"}))
    check.execute("broken")
    try:
        check.wait("stack_update_complete")
        raise AssertionError("the update should have failed")
    except WaiterError:
        pass
    check.wait("stack_rollback_complete")
    assert check.status() == "UPDATE_ROLLBACK_COMPLETE"
    failed = [event for event in check.events("broken") if event["ResourceStatus"].endswith("_FAILED")]
    assert failed[0]["LogicalResourceId"] == "Api", failed
    assert failed[0]["ResourceStatusReason"] == "The runtime is not supported", failed
    pages = check.stacks.get_paginator("list_stack_resources").paginate(StackName="shop")
    names = [item["LogicalResourceId"] for page in pages for item in page["StackResourceSummaries"]]
    assert names == ["Api", "Role", "Table"], names


def drift(check: Check) -> None:
    check.command("drift", stack="shop", logical_id="Api", path="/MemorySize", value=64)
    started = check.stacks.detect_stack_drift(StackName="shop")["StackDriftDetectionId"]
    status = {"DetectionStatus": "DETECTION_IN_PROGRESS"}
    while status["DetectionStatus"] == "DETECTION_IN_PROGRESS":
        status = check.stacks.describe_stack_drift_detection_status(StackDriftDetectionId=started)
    assert status["StackDriftStatus"] == "DRIFTED", status
    drifts = check.stacks.describe_stack_resource_drifts(
        StackName="shop", StackResourceDriftStatusFilters=["MODIFIED"]
    )["StackResourceDrifts"]
    assert [item["LogicalResourceId"] for item in drifts] == ["Api"], drifts
    assert drifts[0]["PropertyDifferences"][0]["ActualValue"] == "64", drifts


def faults(check: Check) -> None:
    # Its own retries get the client past both.
    check.command("fail-call", action="DescribeStacks", times=2, effect={"kind": "throttle"})
    assert check.status() == "UPDATE_ROLLBACK_COMPLETE"
    check.command("fail-call", action="DescribeStacks", effect={"kind": "cut-before"})
    assert check.status() == "UPDATE_ROLLBACK_COMPLETE"
    check.command("credentials", expired=True)
    for name, ask in [
        ("cloudformation", lambda: check.status()),
        ("secretsmanager", lambda: check.client("secretsmanager").list_secrets()),
        ("s3", lambda: check.client("s3").list_objects_v2(Bucket="assets")),
    ]:
        try:
            ask()
            raise AssertionError(f"{name} answered to expired credentials")
        except ClientError as error:
            assert error.response["Error"]["Code"].startswith("ExpiredToken"), error
    check.command("credentials", expired=False)


def delete(check: Check) -> None:
    check.stacks.update_termination_protection(
        StackName="shop", EnableTerminationProtection=True
    )
    try:
        check.stacks.delete_stack(StackName="shop")
        raise AssertionError("a protected stack was deleted")
    except ClientError as error:
        assert "TerminationProtection" in str(error), error
    check.stacks.update_termination_protection(
        StackName="shop", EnableTerminationProtection=False
    )
    arn = check.stacks.describe_stacks(StackName="shop")["Stacks"][0]["StackId"]
    check.stacks.delete_stack(StackName="shop", ClientRequestToken="gone")
    check.wait("stack_delete_complete", arn)
    try:
        check.status()
        raise AssertionError("a deleted stack is still found by name")
    except ClientError as error:
        assert error.response["Error"]["Code"] == "ValidationError", error
    state = check.state()
    assert [stack["status"] for stack in state["stacks"]] == ["DELETE_COMPLETE"], state
    assert state["kept"] == [], state


STEPS = [services, create, no_change, update, replacement, failed_update, drift, faults, delete]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", required=True, help="the program windlass-cfn-double")
    options = parser.parse_args()
    with subprocess.Popen(
        [options.binary, "--per-call", "400"], stdout=subprocess.PIPE, text=True
    ) as double:
        try:
            check = Check(double.stdout.readline().strip())
            for step in STEPS:
                step(check)
                print(f"cfn double, {step.__name__}: as boto3 {boto3.__version__} expects")
            assert len(COMPARED) >= 10, COMPARED
            total = sum(COMPARED.values())
            print(f"cfn double: {total} answers of {len(COMPARED)} actions are as the API says")
        finally:
            double.kill()


if __name__ == "__main__":
    main()
