/** How values are shown to people. */

export function formatDate(value: string | null): string {
  return value === null ? "–" : new Date(`${value}T00:00:00`).toLocaleDateString();
}

export function formatDateTime(value: string | null): string {
  return value === null ? "–" : new Date(value).toLocaleString();
}

export function formatValue(value: unknown): string {
  if (value === null || value === undefined || value === "") {
    return "–";
  }
  if (typeof value === "boolean") {
    return value ? "Yes" : "No";
  }
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
