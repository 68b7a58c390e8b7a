import { type ComponentProps, useCallback } from "react";
import { Link, useLocation, useNavigate } from "react-router-dom";

/** A link to a page of this app. */
export function AppLink({ href, ...props }: ComponentProps<"a"> & { href: string }) {
  return <Link to={href} {...props} />;
}

export function useGoTo(): (path: string) => void {
  const navigate = useNavigate();
  return useCallback((path: string) => void navigate(path), [navigate]);
}

export function useCurrentPath(): string {
  return useLocation().pathname;
}
