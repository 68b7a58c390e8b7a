// @vitest-environment node
import { expect, it } from "vitest";

<% for page in pages %>
import { metadata as {=page.alias=} } from "{=page.module=}";
<% endfor %>

const titles = [
<% for page in pages %>
  { path: {=page.path|ts=}, metadata: {=page.alias=}, title: {=page.title|ts=} },
<% endfor %>
];

for (const { path, metadata, title } of titles) {
  it(`${path} has its title`, () => {
    expect(metadata.title).toBe(title);
  });
}
