import { z } from "zod";

import { AppError } from "@/lib/errors";

const errorBody = z.object({
  error: z.object({
    code: z.enum([
      "INVALID_INPUT",
      "UNAUTHORIZED",
      "FORBIDDEN",
      "NOT_FOUND",
      "CONFLICT",
      "NOT_CONFIGURED",
      "INTERNAL_ERROR",
    ]),
    message: z.string(),
  }),
});

type Options = {
  method?: "GET" | "POST" | "PATCH" | "DELETE";
  body?: unknown;
  query?: Record<string, string | undefined>;
};

/** Asks an API route of this app. The caller checks the shape of the answer. */
export async function request(path: string, { method = "GET", body, query = {} }: Options = {}): Promise<unknown> {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) {
      search.set(name, value);
    }
  }
  const address = search.size === 0 ? path : `${path}?${search}`;
  const response = await fetch(address, {
    method,
    headers: { "content-type": "application/json" },
    body: body === undefined ? null : JSON.stringify(body),
  });
  if (response.status === 204) {
    return undefined;
  }
  const answer: unknown = await response.json().catch(() => undefined);
  if (response.ok) {
    return answer;
  }
  const failure = errorBody.safeParse(answer);
  throw failure.success
    ? new AppError(failure.data.error.code, failure.data.error.message)
    : new AppError("INTERNAL_ERROR", "Something went wrong. Try again in a moment.");
}
