"use client";

import Link from "next/link";
import { usePathname, useRouter } from "next/navigation";
import { type ComponentProps, useCallback } from "react";

/** A link to a page of this app. */
export function AppLink({ href, ...props }: ComponentProps<"a"> & { href: string }) {
  return <Link href={href} {...props} />;
}

export function useGoTo(): (path: string) => void {
  const router = useRouter();
  return useCallback((path: string) => router.push(path), [router]);
}

export function useCurrentPath(): string {
  return usePathname() ?? "/";
}
