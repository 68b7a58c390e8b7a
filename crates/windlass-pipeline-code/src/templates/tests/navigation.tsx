import type { ComponentProps } from "react";
import { vi } from "vitest";

/** Takes the place of the router: links are plain, and where one is led is kept. */
export const goTo = vi.fn<(path: string) => void>();

export function AppLink(props: ComponentProps<"a"> & { href: string }) {
  return <a {...props} />;
}

export function useGoTo() {
  return goTo;
}

export function useCurrentPath() {
  return "/";
}
