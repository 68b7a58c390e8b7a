import { AuthError, type User, createClient } from "@supabase/supabase-js";
import { vi } from "vitest";

import type { Database } from "@/lib/database.types";
import { NoSocket } from "@/server/no-socket";

import { type Answer, type Call, backend } from "./backend";

const user: User = {
  id: {=user|ts=},
  aud: "authenticated",
  app_metadata: {},
  user_metadata: {},
  created_at: "2026-01-01T00:00:00Z",
};

/** A real client with a stubbed network, signed in or not. */
export function clientFor(signedIn: boolean, answer: (call: Call) => Answer) {
  const { calls, fetch } = backend(answer);
  const client = createClient<Database>("https://project.example.com", "key", {
    global: { fetch },
    realtime: { transport: NoSocket },
    auth: { persistSession: false, autoRefreshToken: false },
  });
  vi.spyOn(client.auth, "getUser").mockResolvedValue(
    signedIn ? { data: { user }, error: null } : { data: { user: null }, error: new AuthError("no session") },
  );
  return { calls, client };
}
