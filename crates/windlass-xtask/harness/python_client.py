"""Connects to Windlass with the Python MCP SDK, over stdio and over HTTP.

Started by `cargo xtask test`; prints one line per connection and exits with a
traceback on the first answer that is not as expected.
"""

import argparse
import asyncio
import pathlib

from mcp import Client, StdioServerParameters
from mcp.types import ElicitResult

# How the client opens, and the protocol version both sides must end up with:
# "legacy" sends initialize, "auto" probes first, a version is taken as it is.
MODES = {"legacy": "2025-11-25", "auto": "2026-07-28", "2026-07-28": "2026-07-28"}


def calls(work: pathlib.Path):
    """The tools to call: name, arguments, and a key their structured result must have."""
    return [
        ("runs_list", {"limit": 5}, "runs"),
        ("demo_plan", {"dir": str(work), "files": {"a.txt": "hello"}}, "plan_digest"),
    ]


def holds_key(value, key: str) -> bool:
    """Whether a key occurs anywhere in nested data; envelopes differ between toolsets."""
    if isinstance(value, dict):
        return key in value or any(holds_key(inner, key) for inner in value.values())
    if isinstance(value, list):
        return any(holds_key(inner, key) for inner in value)
    return False


async def check(name: str, mode: str, target, work: pathlib.Path) -> None:
    async with Client(target, mode=mode, read_timeout_seconds=30) as client:
        version = client.protocol_version
        assert version == MODES[mode], f"negotiated {version}, not {MODES[mode]}"
        tools = (await client.list_tools()).tools
        names = [tool.name for tool in tools]
        assert len(names) == len(set(names)), f"duplicate tool names: {names}"
        for tool, arguments, key in calls(work):
            assert tool in names, f"{tool} is not among {names}"
            result = await client.call_tool(tool, arguments)
            assert not result.is_error, f"{tool} failed: {result.content}"
            assert isinstance(result.structured_content, dict), f"{tool} gave no structure"
            assert holds_key(result.structured_content, key), (
                f"{tool} gave no {key}: {result.structured_content}"
            )
        print(f"{name}, {mode}: {len(names)} tools, protocol {version}")


POLICY = """
version = 1
[[rule]]
decision = "allow"
reason = "tests"
[[rule]]
operation = "demo.apply"
decision = "ask"
approvers = ["local:*"]
"""

# Approvals in each era.
APPROVALS = 50


class Person:
    """A person at the client who answers every form in the same way, and counts them."""

    def __init__(self, answer: ElicitResult) -> None:
        self.answer = answer
        self.forms: list[str] = []

    async def __call__(self, context, params) -> ElicitResult:
        self.forms.append(params.message)
        return self.answer


async def apply(client: Client, work: pathlib.Path, name: str):
    """Plans and applies one new file; the answer of the second call."""
    change = {"dir": str(work), "files": {name: "hello"}}
    planned = await client.call_tool("demo_plan", change)
    token = planned.structured_content["confirm_token"]
    return await client.call_tool("demo_apply", {**change, "confirm_token": token})


async def check_approvals(mode: str, target, work: pathlib.Path) -> None:
    """A yes is asked for once and ends with the run; nothing else decides."""
    person = Person(ElicitResult(action="accept", content={"approve": True}))
    async with Client(target, mode=mode, elicitation_callback=person) as client:
        for number in range(APPROVALS):
            name = f"{mode}-{number}.txt"
            result = await apply(client, work, name)
            assert not result.is_error, f"approval {number}: {result.content}"
            state = result.structured_content["run"]["state"]
            assert state == "completed", f"approval {number}: {state}"
            assert len(person.forms) == number + 1, f"asked {len(person.forms)} times"
            assert (work / name).exists(), f"{name} was not written"
    form = person.forms[0]
    for part in [f"+ {mode}-0.txt", f"Target: {work}", "Effect: write", "Needs an approval by"]:
        assert part in form, f"{part!r} is not in the form:\n{form}"

    for answer, want in [
        (ElicitResult(action="cancel"), "waiting"),
        (ElicitResult(action="decline"), "waiting"),
        (ElicitResult(action="accept", content={"approve": False}), "failed"),
    ]:
        person = Person(answer)
        async with Client(target, mode=mode, elicitation_callback=person) as client:
            result = await apply(client, work, f"{mode}-not.txt")
            content = result.structured_content
            state = content["run"]["state"]
            assert state == want or (want, state) == ("waiting", "queued"), f"{answer}: {content}"
            assert len(person.forms) == 1, f"{answer}: asked {len(person.forms)} times"
            assert not (work / f"{mode}-not.txt").exists()
            if want == "waiting":
                run_id = content["run"]["run_id"]
                assert f"windlass runs approve {run_id}" in content["next_actions"], content
                journal = await client.call_tool("runs_watch", {"run_id": run_id})
                events = [event["type"] for event in journal.structured_content["events"]]
                assert "signal.received" not in events, f"{answer} was journalled: {events}"
    print(f"approvals, {mode}: {APPROVALS} of {APPROVALS}, dismissed and declined forms decide nothing")


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--url", required=True)
    parser.add_argument("--home", required=True)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    options = parser.parse_args()

    stdio = StdioServerParameters(
        command=options.binary,
        args=["mcp", "serve"],
        env={"WINDLASS_HOME": options.home},
    )
    for mode in MODES:
        await check("stdio", mode, stdio, options.work)
        await check("http", mode, options.url, options.work)

    home = pathlib.Path(options.home + "-approvals")
    home.mkdir(mode=0o700)
    (home / "policy.toml").write_text(POLICY)
    asking = StdioServerParameters(
        command=options.binary, args=["mcp", "serve"], env={"WINDLASS_HOME": str(home)}
    )
    for mode in ["legacy", "2026-07-28"]:
        await check_approvals(mode, asking, options.work)


asyncio.run(main())
