import { useMemo } from "react";
import { Grid } from "@marlin/grid";

/** Shows a grid inside a React component. */
export function App({ rows }: { rows: string[][] }) {
  const html = useMemo(() => {
    const grid = new Grid({ columns: rows[0]?.length ?? 0 });
    rows.forEach((row) => grid.append(row));
    return grid.toHtml();
  }, [rows]);
  return <div>{html}</div>;
}
