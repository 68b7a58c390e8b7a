"use client";

import { createBrowserClient } from "@supabase/ssr";
import type { SupabaseClient } from "@supabase/supabase-js";

import type { Database } from "@/lib/database.types";
import { supabaseSettings } from "@/lib/environment";

let client: SupabaseClient<Database> | undefined;

/** The browser's client, for signing in and out. Data goes through the API routes. */
export function getSupabase(): SupabaseClient<Database> {
  if (client === undefined) {
    const { url, key } = supabaseSettings();
    client = createBrowserClient<Database>(url, key);
  }
  return client;
}
