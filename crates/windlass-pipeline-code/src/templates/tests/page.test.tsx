import { {=library=} } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

<% for line in imports %>
{=line=}
<% endfor %>

<% if goes %>
import { goTo } from "./support/navigation";
<% endif %>
<% if samples %>
import { {=samples=} } from "./support/samples";
<% endif %>

vi.mock("@/lib/navigation", () => import("./support/navigation"));
<% for module in mocks %>
vi.mock("{=module=}");
<% endfor %>

beforeEach(() => {
  vi.resetAllMocks();
<% for line in prepare %>
  {=line=}
<% endfor %>
});

afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

<% if fills %>
function control(name: string): Element {
  const element = document.querySelector(`[name="${name}"]`);
  if (element === null) {
    throw new Error(`the form has no control ${name}`);
  }
  return element;
}

<% endif %>
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
