// @vitest-environment node
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { {=functions=} } from "@/data/{=file=}";
<% if create_schema %>
import { {=create_schema=} } from "@/lib/schemas/{=schema_file=}";
<% endif %>

import { type Answer, type Call, backend } from "./support/backend";
import { {=sample=} } from "./support/samples";

<% if key %>
const id = {=key|ts=};
<% endif %>
<% if input %>
const input = {
<% for field in input %>
  {=field.key=}: {=field.value=},
<% endfor %>
};
<% endif %>

function answering(answer: (call: Call) => Answer): Call[] {
  const { calls, fetch } = backend(answer);
  vi.stubGlobal("fetch", fetch);
  return calls;
}

beforeEach(() => {
  // Browsers have sockets; not every Node does.
  vi.stubGlobal("WebSocket", class {});
  vi.stubEnv("VITE_SUPABASE_URL", "https://project.example.com");
  vi.stubEnv("VITE_SUPABASE_PUBLISHABLE_KEY", "key");
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
});

describe({=label|ts=}, () => {
<% for case in cases %>
<% for line in case.about %>
  // {=line|comment=}
<% endfor %>
  it({=case.name|ts=}, async () => {
<% for line in case.lines %>
    {=line=}
<% endfor %>
  });

<% endfor %>
  it("shows a refusal of the database in words for people", async () => {
    answering(() => ({ status: 403, body: { code: "42501", message: "permission denied", details: null, hint: null } }));
    await expect({=refused=}).rejects.toMatchObject({ code: "FORBIDDEN", message: "You do not have access to this." });
  });
});
