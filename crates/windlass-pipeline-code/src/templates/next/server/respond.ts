import type { z } from "zod";

import { AppError, type ErrorCode } from "@/lib/errors";
import { type Client, createServerSupabase } from "@/server/supabase";

const statusOf: Record<ErrorCode, number> = {
  INVALID_INPUT: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  NOT_CONFIGURED: 503,
  INTERNAL_ERROR: 500,
};

type Access = "public" | "authenticated";

/** Runs the work of a route as the caller; every failure becomes `{error:{code,message}}`. */
export async function respond(access: Access, work: (client: Client) => Promise<Response>): Promise<Response> {
  try {
    const client = await createServerSupabase();
    if (access === "authenticated") {
      const { data, error } = await client.auth.getUser();
      if (error || data.user === null) {
        throw new AppError("UNAUTHORIZED", "Sign in to continue.");
      }
    }
    return await work(client);
  } catch (thrown) {
    const error = thrown instanceof AppError ? thrown : new AppError("INTERNAL_ERROR", "Something went wrong.");
    if (!(thrown instanceof AppError)) {
      console.error(thrown);
    }
    return Response.json({ error: { code: error.code, message: error.message } }, { status: statusOf[error.code] });
  }
}

/** A value that fits the schema, or an INVALID_INPUT that names the first field that does not. */
export function checked<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value);
  if (result.success) {
    return result.data;
  }
  const issue = result.error.issues[0];
  const field = issue?.path.join(".") ?? "";
  const message = issue?.message ?? "The input is not valid.";
  throw new AppError("INVALID_INPUT", field === "" ? message : `${field}: ${message}`);
}

/** The JSON body of a request; INVALID_INPUT when there is none. */
export async function readBody(request: Request): Promise<unknown> {
  try {
    const body: unknown = await request.json();
    return body;
  } catch {
    throw new AppError("INVALID_INPUT", "The body must be JSON.");
  }
}
