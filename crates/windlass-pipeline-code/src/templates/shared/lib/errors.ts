/** Why a request did not do what was asked. The codes are those of the API's error body. */
export type ErrorCode =
  | "INVALID_INPUT"
  | "UNAUTHORIZED"
  | "FORBIDDEN"
  | "NOT_FOUND"
  | "CONFLICT"
  | "NOT_CONFIGURED"
  | "INTERNAL_ERROR";

export class AppError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.name = "AppError";
    this.code = code;
  }
}

type DatabaseError = { code: string; message: string };

/** What an error of the database means to the one who asked; its own text stays inside. */
export function databaseError(error: DatabaseError): AppError {
  switch (error.code) {
    case "PGRST116":
      return new AppError("NOT_FOUND", "This does not exist, or you do not have access to it.");
    case "PGRST301":
    case "PGRST302":
    case "PGRST303":
      return new AppError("UNAUTHORIZED", "Sign in to continue.");
    case "42501":
      return new AppError("FORBIDDEN", "You do not have access to this.");
    case "23505":
      return new AppError("CONFLICT", "Another entry already has this value.");
    case "23503":
      return new AppError("CONFLICT", "This refers to something that does not exist, or is still in use.");
    case "23502":
    case "23514":
    case "22P02":
    case "22007":
      return new AppError("INVALID_INPUT", "A value is missing or not allowed.");
    default:
      return new AppError("INTERNAL_ERROR", "Something went wrong. Try again in a moment.");
  }
}

/** Anything that was thrown, as an error with a message for people. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new AppError("INTERNAL_ERROR", "Something went wrong.");
}

/** Whether the database is not connected yet. */
export function needsSetUp(error: Error): boolean {
  return error instanceof AppError && error.code === "NOT_CONFIGURED";
}

/** Whether signing in may help. */
export function needsSignIn(error: Error): boolean {
  return error instanceof AppError && (error.code === "UNAUTHORIZED" || error.code === "FORBIDDEN");
}
