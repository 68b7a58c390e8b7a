"use client";

import type { Session } from "@supabase/supabase-js";
import { useEffect, useState } from "react";

import { AppError } from "@/lib/errors";
import { getSupabase } from "@/lib/supabase";

export async function signIn(email: string, password: string): Promise<void> {
  const { error } = await getSupabase().auth.signInWithPassword({ email, password });
  if (error) {
    throw new AppError("UNAUTHORIZED", error.message);
  }
}

/** Creates an account. Without a session afterwards, the address has to be confirmed by email first. */
export async function signUp(email: string, password: string): Promise<{ confirmationNeeded: boolean }> {
  const { data, error } = await getSupabase().auth.signUp({ email, password });
  if (error) {
    throw new AppError("INVALID_INPUT", error.message);
  }
  return { confirmationNeeded: data.session === null };
}

export async function signOut(): Promise<void> {
  await getSupabase().auth.signOut();
}

/** Who is signed in, kept up to date; nobody while Supabase is not configured. */
export function useSession(): Session | null {
  const [session, setSession] = useState<Session | null>(null);

  useEffect(() => {
    try {
      const { data } = getSupabase().auth.onAuthStateChange((_event, next) => setSession(next));
      return () => data.subscription.unsubscribe();
    } catch {
      return undefined;
    }
  }, []);

  return session;
}
