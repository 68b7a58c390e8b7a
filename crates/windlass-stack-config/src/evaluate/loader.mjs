// Runs a config or a directive of a project and answers with JSON on stdout, behind a mark.
// What the project itself prints goes to stderr.
import { readFileSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import * as nodeModule from 'node:module';
import { pathToFileURL } from 'node:url';

const MARK = '\u001ewindlass:';
const request = JSON.parse(readFileSync(0, 'utf8'));

process.stdout.write = process.stderr.write.bind(process.stderr);
for (const name of ['log', 'info', 'debug', 'dir', 'table']) console[name] = console.error;

function answer(value) {
  let bytes = Buffer.from(MARK + JSON.stringify(value), 'utf8');
  while (bytes.length > 0) bytes = bytes.subarray(writeSync(1, bytes));
}

// Node before 22.18 does not read TypeScript; a compiler of the project does it then.
const HOOKS = `
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
let compile;
export async function initialize({ esbuild, typescript }) {
  if (esbuild) {
    const { transform } = (await import(esbuild)).default ?? (await import(esbuild));
    compile = async (source, path) =>
      (await transform(source, { loader: path.endsWith('x') ? 'tsx' : 'ts', format: 'esm', sourcefile: path })).code;
  } else if (typescript) {
    const ts = (await import(typescript)).default;
    compile = async (source, path) =>
      ts.transpileModule(source, {
        fileName: path,
        compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
      }).outputText;
  }
}
export async function resolve(specifier, context, next) {
  try {
    return await next(specifier, context);
  } catch (error) {
    if (!specifier.startsWith('.')) throw error;
    const base = specifier.replace(/\\.js$/, '');
    for (const ending of ['.ts', '.mts', '.tsx', '.js', '/index.ts', '/index.js']) {
      try {
        return await next(base + ending, context);
      } catch {}
    }
    throw error;
  }
}
export async function load(url, context, next) {
  if (compile && url.startsWith('file:') && /\\.[mc]?tsx?$/.test(new URL(url).pathname)) {
    const path = fileURLToPath(url);
    return { format: 'module', shortCircuit: true, source: await compile(await readFile(path, 'utf8'), path) };
  }
  return next(url, context);
}
`;

function prepare(file) {
  const isTypeScript = /\.[mc]?tsx?$/.test(file);
  const compilers = {};
  if (isTypeScript && !process.features.typescript) {
    const require = createRequire(file);
    for (const name of ['esbuild', 'typescript']) {
      try {
        compilers[name] = pathToFileURL(require.resolve(name)).href;
        break;
      } catch {}
    }
    if (Object.keys(compilers).length === 0) {
      const error = new Error('no compiler for TypeScript');
      error.code = 'WINDLASS_NO_TYPESCRIPT';
      throw error;
    }
  }
  if (typeof nodeModule.register === 'function') {
    const hooks = 'data:text/javascript,' + encodeURIComponent(HOOKS);
    nodeModule.register(hooks, { parentURL: pathToFileURL(file).href, data: compilers });
  }
}

async function imported(file) {
  const exported = await import(pathToFileURL(file).href);
  return { ...exported, default: exported.default?.default ?? exported.default };
}

async function configOf(file, parameters) {
  const exported = (await imported(file)).default;
  if (exported === undefined) throw new Error('the file has no default export');
  const made = typeof exported === 'function' ? await exported(parameters) : exported;
  if (made === null || typeof made !== 'object') throw new Error('the default export gives no config');
  const isCompiled = typeof made.format === 'string' && made.config !== undefined;
  const config = { ...(isCompiled ? made.config : made) };
  const transforms = { ...(isCompiled ? made.transforms : {}) };
  const finalTransform = made.finalTransform;
  delete config.finalTransform;
  const resources = {};
  for (const [name, resource] of Object.entries(config.resources ?? {})) {
    const { transforms: own, ...rest } = resource ?? {};
    Object.assign(transforms, own);
    resources[name] = rest;
  }
  if (config.resources) config.resources = resources;
  return { config, transforms, finalTransform };
}

async function main() {
  prepare(request.file);
  if (request.kind === 'config') {
    const { config, transforms, finalTransform } = await configOf(request.file, request.parameters);
    return { config, hasTransforms: Object.keys(transforms).length > 0 || typeof finalTransform === 'function' };
  }
  if (request.kind === 'transform') {
    const { transforms, finalTransform } = await configOf(request.file, request.parameters);
    let { template } = request;
    for (const [logicalId, transform] of Object.entries(transforms)) {
      const resource = template.Resources?.[logicalId];
      if (!resource) throw new Error(`a transform names ${logicalId}, which is not in the template`);
      if (typeof transform !== 'function') throw new Error(`the transform of ${logicalId} is no function`);
      resource.Properties = (await transform(resource.Properties ?? {})) ?? resource.Properties;
    }
    if (typeof finalTransform === 'function') template = (await finalTransform(template)) ?? template;
    return { template };
  }
  const exported = await imported(request.file);
  const named = request.function ? exported[request.function] : exported[request.name] ?? exported.default;
  if (typeof named !== 'function') throw new Error('the file exports no such function');
  const value = await named(...request.arguments);
  if (value === undefined) throw new Error('the function returned nothing');
  return { value };
}

try {
  answer({ ok: true, ...(await main()) });
  process.exit(0);
} catch (error) {
  answer({ ok: false, code: error?.code ?? null, message: String(error?.message ?? error) });
  process.exit(1);
}
