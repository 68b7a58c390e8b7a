import { Grid } from "@marlin/grid";

const grid = new Grid({ columns: 2 );
for (const row of [["a", "b"]] {
  grid.append(row);
