"""Connects to Windlass with the Python MCP SDK, over stdio and over HTTP.

Started by `cargo xtask test`; prints one line per connection and exits with a
traceback on the first answer that is not as expected.
"""

import argparse
import asyncio
import pathlib

from mcp import Client, StdioServerParameters

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


asyncio.run(main())
