import { AppError } from "@/lib/errors";

/** Where Supabase is. Read when it is first needed, so that a build needs no secrets. */
export function supabaseSettings(): { url: string; key: string } {
  const url = process.env.NEXT_PUBLIC_SUPABASE_URL;
  const key = process.env.NEXT_PUBLIC_SUPABASE_PUBLISHABLE_KEY;
  if (!url || !key) {
    throw new AppError(
      "NOT_CONFIGURED",
      "Set NEXT_PUBLIC_SUPABASE_URL and NEXT_PUBLIC_SUPABASE_PUBLISHABLE_KEY in .env.local to load data.",
    );
  }
  return { url, key };
}
