export { Grid, type GridOptions } from "./grid.js";
export { loadCsv, LoadError } from "./load.js";
export { measure } from "./measure.js";

/** The version of the package. */
export const VERSION = "4.0.2";
