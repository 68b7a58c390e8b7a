import { cleanup, render, screen, within } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";

import { AppShell } from "@/components/layout/app-shell";
import { site } from "@/lib/site";

vi.mock("@/lib/navigation", () => import("./support/navigation"));

afterEach(cleanup);

describe("Every page", () => {
<% for line in case.about %>
  // {=line|comment=}
<% endfor %>
  it({=case.name|ts=}, () => {
    render(<AppShell>content</AppShell>);
    expect(screen.getByRole("banner")).toBeTruthy();
    expect(screen.getByRole("main").textContent).toBe("content");
    expect(screen.getByText("Skip to content").getAttribute("href")).toBe("#main");
    const links = within(screen.getByRole("navigation", { name: "Main" })).queryAllByRole("link");
    expect(links.map((link) => link.getAttribute("href"))).toEqual(site.navigation.map((item) => item.href));
  });
});
