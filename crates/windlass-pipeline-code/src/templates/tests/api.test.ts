// @vitest-environment node
import { beforeEach, describe, expect, it, vi } from "vitest";

<% for route in modules %>
import * as {=route.alias=} from "{=route.module=}";
<% endfor %>
<% if create_schema %>
import { {=create_schema=} } from "@/lib/schemas/{=schema_file=}";
<% endif %>
import { createServerSupabase } from "@/server/supabase";

import type { Answer, Call } from "./support/backend";
import { {=sample=} } from "./support/samples";
import { clientFor } from "./support/server";

vi.mock("@/server/supabase", () => ({ createServerSupabase: vi.fn() }));

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

function asking(signedIn: boolean, answer: (call: Call) => Answer): Call[] {
  const { calls, client } = clientFor(signedIn, answer);
  vi.mocked(createServerSupabase).mockResolvedValue(client);
  return calls;
}

beforeEach(() => {
  vi.mocked(createServerSupabase).mockReset();
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
});
