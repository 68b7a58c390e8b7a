/** Takes the place of content that is on its way. */
export function Skeleton({ label, rows = 3 }: { label: string; rows?: number }) {
  return (
    <div role="status" className="flex flex-col gap-3">
      <span className="sr-only">{label}</span>
      {Array.from({ length: rows }, (_, index) => (
        <div key={index} aria-hidden="true" className="h-10 rounded-md bg-muted motion-safe:animate-pulse" />
      ))}
    </div>
  );
}
