// @vitest-environment node
import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

const sql = readFileSync("supabase/migrations/0001_init.sql", "utf8");
const tables = [...sql.matchAll(/^create table public\.(.+) \($/gm)].map((match) => match[1] ?? "");

describe("The migration", () => {
<% for line in case.about %>
  // {=line|comment=}
<% endfor %>
  it({=case.name|ts=}, () => {
    expect(tables.length).toBe({=count=});
    for (const table of tables) {
      expect(sql).toContain(`alter table public.${table} enable row level security;`);
      expect(sql).toContain(`alter table public.${table} force row level security;`);
      expect(sql).toContain(`revoke all on public.${table} from anon, authenticated;`);
      expect(sql).toMatch(new RegExp(`create policy .+ on public\\.${table.replaceAll(/[^\w]/g, "\\$&")}\\n`));
    }
  });
});
