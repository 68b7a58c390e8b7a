import { type SupabaseClient, createClient } from "@supabase/supabase-js";

import type { Database } from "@/lib/database.types";
import { AppError } from "@/lib/errors";

let client: SupabaseClient<Database> | undefined;

/** The client, made when it is first needed: a build needs no secrets. */
export function getSupabase(): SupabaseClient<Database> {
  if (client === undefined) {
    const url = import.meta.env.VITE_SUPABASE_URL;
    const key = import.meta.env.VITE_SUPABASE_PUBLISHABLE_KEY;
    if (!url || !key) {
      throw new AppError(
        "NOT_CONFIGURED",
        "Set VITE_SUPABASE_URL and VITE_SUPABASE_PUBLISHABLE_KEY in .env.local to load data.",
      );
    }
    client = createClient<Database>(url, key);
  }
  return client;
}
