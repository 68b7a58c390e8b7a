#!/usr/bin/env node
import { loadCsv } from "./load.js";

const path = process.argv[2];
if (path === undefined) {
  console.error("usage: marlin-grid FILE");
  process.exit(2);
}
console.log((await loadCsv(path)).toHtml());
