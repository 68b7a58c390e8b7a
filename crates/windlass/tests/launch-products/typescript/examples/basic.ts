// The smallest grid there is.
import { Grid } from "@marlin/grid";

const grid = new Grid({ columns: 2 });
grid.append(["name", "price"]);
grid.append(["tea", "2.10"]);
console.log(grid.toHtml());
