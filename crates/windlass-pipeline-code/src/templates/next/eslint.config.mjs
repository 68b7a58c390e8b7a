import coreWebVitals from "eslint-config-next/core-web-vitals";
import typescript from "eslint-config-next/typescript";
import { defineConfig, globalIgnores } from "eslint/config";

const config = defineConfig([...coreWebVitals, ...typescript, globalIgnores([".next/**", "out/**", "next-env.d.ts"])]);

export default config;
