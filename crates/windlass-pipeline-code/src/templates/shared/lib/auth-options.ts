"use client";

import { AppError } from "@/lib/errors";
import { getSupabase } from "@/lib/supabase";

export type AuthProvider = "apple" | "azure" | "facebook" | "github" | "google";

/** Leads to the provider's own page and back to this app. */
export async function signInWithProvider(provider: AuthProvider): Promise<void> {
  const { error } = await getSupabase().auth.signInWithOAuth({
    provider,
    options: { redirectTo: window.location.origin },
  });
  if (error) {
    throw new AppError("UNAUTHORIZED", error.message);
  }
}

/** Sends a link that signs in the user who opens it. */
export async function sendLink(email: string): Promise<void> {
  const { error } = await getSupabase().auth.signInWithOtp({
    email,
    options: { emailRedirectTo: window.location.origin },
  });
  if (error) {
    throw new AppError("INVALID_INPUT", error.message);
  }
}

/** Sends a code by SMS. */
export async function sendCode(phone: string): Promise<void> {
  const { error } = await getSupabase().auth.signInWithOtp({ phone });
  if (error) {
    throw new AppError("INVALID_INPUT", error.message);
  }
}

/** Signs in with the code that was sent. */
export async function checkCode(phone: string, code: string): Promise<void> {
  const { error } = await getSupabase().auth.verifyOtp({ phone, token: code, type: "sms" });
  if (error) {
    throw new AppError("UNAUTHORIZED", error.message);
  }
}
