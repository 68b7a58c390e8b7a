/** Values of a submitted form in the types of the schemas. An empty control is `null`. */

export function readText(form: FormData, name: string): string | null {
  const value = form.get(name);
  if (typeof value !== "string") {
    return null;
  }
  const text = value.trim();
  return text === "" ? null : text;
}

export function readNumber(form: FormData, name: string): number | null {
  const text = readText(form, name);
  return text === null ? null : Number(text);
}

export function readBoolean(form: FormData, name: string): boolean {
  return form.get(name) !== null;
}

/** A local time from the browser's picker, as a moment. */
export function readDateTime(form: FormData, name: string): string | null {
  const text = readText(form, name);
  if (text === null) {
    return null;
  }
  const moment = new Date(text);
  return Number.isNaN(moment.getTime()) ? text : moment.toISOString();
}

/** JSON as it was typed; a text that is no JSON stays a text. */
export function readJson(form: FormData, name: string): unknown {
  const text = readText(form, name);
  if (text === null) {
    return null;
  }
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return text;
  }
}

/** The inverse of `readDateTime`, for the picker's value. */
export function toLocalDateTime(moment: string | null | undefined): string | undefined {
  if (moment === null || moment === undefined) {
    return undefined;
  }
  const date = new Date(moment);
  if (Number.isNaN(date.getTime())) {
    return undefined;
  }
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

export type FieldErrors = Partial<Record<string, string>>;

type Issue = { path: PropertyKey[]; message: string };

/** The first message per field. */
export function fieldErrors(issues: Issue[]): FieldErrors {
  const errors: FieldErrors = {};
  for (const issue of issues) {
    const name = String(issue.path[0] ?? "");
    errors[name] ??= issue.message;
  }
  return errors;
}
