// Runs a config or a directive of a project and answers with JSON on stdout, behind a mark.
// What the project itself prints goes to stderr.
import { existsSync, readFileSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import * as nodeModule from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const MARK = '\u001ewindlass:';
const request = JSON.parse(readFileSync(0, 'utf8'));

process.stdout.write = process.stderr.write.bind(process.stderr);
for (const name of ['log', 'info', 'debug', 'dir', 'table']) console[name] = console.error;

function answer(value) {
  let bytes = Buffer.from(MARK + JSON.stringify(value), 'utf8');
  while (bytes.length > 0) bytes = bytes.subarray(writeSync(1, bytes));
}

// Node before 22.18 does not read TypeScript; a compiler does it then. The project's own is
// preferred everywhere: it reads what Node does not, such as decorators.
function prepare(file) {
  const isTypeScript = /\.[mc]?tsx?$/.test(file);
  const data = { compilerOptions: compilerOptions(file) };
  if (isTypeScript) {
    const require = createRequire(file);
    for (const name of ['esbuild', 'typescript']) {
      try {
        data[name] = pathToFileURL(require.resolve(name)).href;
        break;
      } catch {}
    }
    if (!data.esbuild && request.esbuild) data.esbuildProgram = request.esbuild;
    const canRead = data.esbuild || data.esbuildProgram || data.typescript || process.features.typescript;
    if (!canRead) {
      const error = new Error('no compiler for TypeScript');
      error.code = 'WINDLASS_NO_TYPESCRIPT';
      throw error;
    }
  }
  if (typeof nodeModule.register === 'function') {
    nodeModule.register(new URL('./hooks.mjs', import.meta.url), { data });
  }
}

// `paths` of the nearest tsconfig.json; one that cannot be read has none.
function compilerOptions(file) {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const path = join(folder, 'tsconfig.json');
    if (existsSync(path)) {
      try {
        const text = readFileSync(path, 'utf8');
        const plain = text.replace(/("(?:[^"\\\n]|\\.)*")|\/\/[^\n]*|\/\*[^]*?\*\//g, '$1').replace(/,(\s*[}\]])/g, '$1');
        const { paths, baseUrl } = JSON.parse(plain).compilerOptions ?? {};
        return { paths, base: pathToFileURL(join(folder, baseUrl ?? '.') + '/').href };
      } catch {
        return {};
      }
    }
    if (folder === dirname(folder)) return {};
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
