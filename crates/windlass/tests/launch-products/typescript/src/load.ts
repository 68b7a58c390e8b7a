import { readFile } from "node:fs/promises";
import { Grid } from "./grid.js";

/** A file that is not a table. */
export class LoadError extends Error {}

/** Loads a CSV file and returns it as a grid. */
export async function loadCsv(path: string): Promise<Grid> {
  const lines = (await readFile(path, "utf8")).split(/\r?\n/).filter((line) => line !== "");
  const first = lines[0];
  if (first === undefined) {
    throw new LoadError(`${path} is empty`);
  }
  const grid = new Grid({ columns: first.split(",").length });
  for (const line of lines) {
    grid.append(line.split(","));
  }
  return grid;
}
