import assert from "node:assert/strict";
import { test } from "node:test";
import { Grid } from "../src/grid.js";

test("a row with too many cells is refused", () => {
  assert.throws(() => new Grid({ columns: 1 }).append(["a", "b"]), RangeError);
});
