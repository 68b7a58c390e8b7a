// @vitest-environment node
import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

const css = readFileSync("{=css=}", "utf8");
const tokens = readFileSync("design-tokens.json", "utf8");

describe("Design tokens", () => {
  for (const { name, value } of [
<% for token in tokens %>
    { name: {=token.name|ts=}, value: {=token.value|ts=} },
<% endfor %>
  ]) {
    it(name, () => {
      expect(css).toContain(value);
      expect(tokens).toContain(value);
    });
  }
});
