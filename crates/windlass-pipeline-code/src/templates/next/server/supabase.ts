import { createServerClient } from "@supabase/ssr";
import type { SupabaseClient } from "@supabase/supabase-js";
import { cookies } from "next/headers";

import type { Database } from "@/lib/database.types";
import { supabaseSettings } from "@/lib/environment";
import { NoSocket } from "@/server/no-socket";

export type Client = SupabaseClient<Database>;

/** A client that acts as the caller: row-level security applies to everything it does. */
export async function createServerSupabase(): Promise<Client> {
  const { url, key } = supabaseSettings();
  const store = await cookies();
  return createServerClient<Database>(url, key, {
    realtime: { transport: NoSocket },
    cookies: {
      getAll: () => store.getAll(),
      setAll: (values) => {
        for (const { name, value, options } of values) {
          store.set(name, value, options);
        }
      },
    },
  });
}
