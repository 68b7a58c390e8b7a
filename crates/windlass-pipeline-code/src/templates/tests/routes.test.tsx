import { cleanup, render, screen } from "@testing-library/react";
import { MemoryRouter } from "react-router-dom";
import { afterEach, expect, it } from "vitest";

import { App } from "@/App";
import { site } from "@/lib/site";

afterEach(cleanup);

const pages = [
<% for page in pages %>
  { path: {=page.path|ts=}, title: {=page.title|ts=}, heading: {=page.heading|ts=} },
<% endfor %>
  { path: "/no-such-page", title: "Page not found", heading: "Page not found" },
];

for (const { path, title, heading } of pages) {
  it(`${path} has its title and heading`, () => {
    render(
      <MemoryRouter initialEntries={[path]}>
        <App />
      </MemoryRouter>,
    );
    expect(screen.getByRole("heading", { level: 1 }).textContent).toBe(heading);
    expect(document.title).toBe(`${title} · ${site.name}`);
  });
}
