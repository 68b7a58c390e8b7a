// How Node reads the files of a config: TypeScript without a build, names imported from CommonJS
// packages, imports without a file ending, JSON. Runs in Node's loader thread; started by loader.mjs.
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import * as nodeModule from 'node:module';
import { fileURLToPath } from 'node:url';

const ENDINGS = ['.ts', '.mts', '.tsx', '.js', '.mjs', '.json', '/index.ts', '/index.js'];
const COMMON = 'windlass-names';
let compile;
let tsconfig;

export async function initialize({ esbuild, esbuildProgram, typescript, compilerOptions }) {
  tsconfig = compilerOptions;
  if (esbuildProgram) {
    compile = async (source, path) =>
      execFileSync(esbuildProgram, [`--loader=${loaderOf(path)}`, '--format=esm', `--sourcefile=${path}`], {
        input: source,
        encoding: 'utf8',
        maxBuffer: 64 * 1024 * 1024,
      });
  } else if (esbuild) {
    const loaded = await import(esbuild);
    const { transform } = loaded.default ?? loaded;
    compile = async (source, path) =>
      (await transform(source, { loader: loaderOf(path), format: 'esm', sourcefile: path })).code;
  } else if (typescript) {
    const ts = (await import(typescript)).default;
    compile = async (source, path) =>
      ts.transpileModule(source, {
        fileName: path,
        compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
      }).outputText;
  } else if (typeof nodeModule.stripTypeScriptTypes === 'function') {
    compile = async (source) => withoutUnusedImports(stripped(source));
  }
}

const loaderOf = (path) => (path.endsWith('x') ? 'tsx' : 'ts');

// Enums and the like need more than types taken out; a Node that cannot do more says so itself.
function stripped(source) {
  try {
    return nodeModule.stripTypeScriptTypes(source, { mode: 'transform' });
  } catch (error) {
    if (error?.code !== 'ERR_INVALID_ARG_VALUE') throw error;
    return nodeModule.stripTypeScriptTypes(source);
  }
}

const NAMED = /\bimport\s*(?:[\w$]+\s*,\s*)?\{([^{}]*)\}\s*from\s*(?:'([^'\n]+)'|"([^"\n]+)")/g;

// The names that a text imports from one specifier, or from all. What looks like an import in a
// comment gives a name too many, which does no harm.
function* imports(source) {
  for (const match of source.matchAll(NAMED)) {
    const names = match[1].split(',').flatMap((part) => {
      const words = part.replace(/\/\*.*?\*\//gs, '').trim().split(/\s+/);
      if (words[0] === '' || (words[0] === 'type' && words.length > 1 && words[1] !== 'as')) return [];
      return [{ name: words[0], local: words[2] ?? words[0] }];
    });
    yield { match, names, from: match[2] ?? match[3] };
  }
}

// TypeScript drops imports that only types use; taking types out does not.
function withoutUnusedImports(source) {
  const rest = source.replace(NAMED, '');
  const words = new Set(rest.match(/[\w$]+/g) ?? []);
  let out = '';
  let end = 0;
  for (const { match, names } of imports(source)) {
    const used = names.filter(({ local }) => words.has(local));
    const list = used.map(({ name, local }) => (name === local ? name : `${name} as ${local}`)).join(', ');
    out += source.slice(end, match.index) + match[0].replace(/\{[^{}]*\}/, `{ ${list} }`);
    end = match.index + match[0].length;
  }
  return out + source.slice(end);
}

const isOfPackage = (url) => /\/node_modules\//.test(url ?? '');
const wanted = new Map();

export async function resolve(specifier, context, next) {
  const found = await located(specifier, context, next);
  const isBare = !/^[./]|^(node|file|data):/.test(specifier);
  if (!isBare || isOfPackage(context.parentURL) || !found.url.startsWith('file:')) return found;
  const names = wanted.get(context.parentURL)?.get(specifier) ?? [];
  // Without a "type" in its package.json, Node decides by the text, and says nothing here.
  if (found.format === 'commonjs' || (found.format == null && /\.c?js$/.test(found.url))) {
    const url = new URL(found.url);
    url.searchParams.set(COMMON, names.join(' '));
    return { url: url.href, format: 'module', shortCircuit: true };
  }
  return found;
}

async function located(specifier, context, next) {
  try {
    return await next(specifier, context);
  } catch (error) {
    for (const candidate of candidates(specifier, context)) {
      try {
        return await next(candidate, context);
      } catch {}
    }
    throw error;
  }
}

// What a bundler would try: other endings, and the paths of tsconfig.json.
function* candidates(specifier, context) {
  if (isOfPackage(context.parentURL)) return;
  const bases = specifier.startsWith('.') ? [specifier] : aliases(specifier);
  for (const base of bases) {
    yield base;
    const bare = base.replace(/\.js$/, '');
    for (const ending of ENDINGS) yield bare + ending;
  }
}

function* aliases(specifier) {
  const { base, paths } = tsconfig ?? {};
  for (const [pattern, targets] of Object.entries(paths ?? {})) {
    const [before, after] = pattern.split('*');
    const isStar = after !== undefined;
    if (isStar ? !(specifier.startsWith(before) && specifier.endsWith(after)) : specifier !== pattern) continue;
    const rest = isStar ? specifier.slice(before.length, specifier.length - after.length) : '';
    for (const target of targets) yield new URL(target.replace('*', rest), base).href;
  }
}

export async function load(url, context, next) {
  if (!url.startsWith('file:')) return next(url, context);
  const { pathname, searchParams } = new URL(url);
  if (searchParams.has(COMMON)) return wrapper(url, searchParams.get(COMMON).split(' '));
  if (isOfPackage(url)) return next(url, context);
  if (pathname.endsWith('.json') && context.importAttributes?.type !== 'json') {
    const text = await readFile(fileURLToPath(url), 'utf8');
    return { format: 'module', shortCircuit: true, source: `export default ${JSON.stringify(JSON.parse(text))};` };
  }
  if (compile && /\.m?tsx?$/.test(pathname)) {
    const path = fileURLToPath(url);
    const source = await compile(await readFile(path, 'utf8'), path);
    remember(url, source);
    return { format: 'module', shortCircuit: true, source: withGlobals(source) };
  }
  const loaded = await next(url, context);
  if (loaded.format === 'module' && loaded.source) remember(url, String(loaded.source));
  return loaded;
}

function remember(url, source) {
  const bySpecifier = new Map();
  for (const { names, from } of imports(source)) {
    bySpecifier.set(from, [...(bySpecifier.get(from) ?? []), ...names.map(({ name }) => name)]);
  }
  wanted.set(url, bySpecifier);
}

// Configs are written for a bundler that gives modules what CommonJS has.
function withGlobals(source) {
  const lines = [];
  const lacks = (name) =>
    new RegExp(`(?<![.\\w$])${name}\\b`).test(source) &&
    !new RegExp(`\\b(?:const|let|var|function)\\s+${name}\\b`).test(source);
  if (lacks('require')) lines.push(`import { createRequire as __windlassRequire } from 'node:module'; const require = __windlassRequire(import.meta.url);`);
  if (lacks('__dirname')) lines.push('const __dirname = import.meta.dirname ?? decodeURIComponent(new URL(".", import.meta.url).pathname);');
  if (lacks('__filename')) lines.push('const __filename = import.meta.filename ?? decodeURIComponent(new URL(import.meta.url).pathname);');
  // On one line, so that errors keep their line numbers.
  return lines.join(' ') + source;
}

const packageOf = (path) => path.split('/node_modules/').pop().match(/^(?:@[^/]+\/)?[^/]+/)?.[0] ?? path;
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

// A CommonJS package as a module with all its names: Node finds the names by reading the text,
// which it cannot do for packages made by some bundlers. A name that is not there may be a type; one
// that is used says what is missing.
async function wrapper(url, names) {
  const clean = new URL(url);
  clean.searchParams.delete(COMMON);
  const path = fileURLToPath(clean);
  let own = [];
  try {
    own = Object.keys(nodeModule.createRequire(clean)(path));
  } catch {
    // The error is raised where the config imports it.
  }
  const all = new Set([...own, ...names].filter((name) => IDENTIFIER.test(name) && name !== 'default'));
  const lines = [
    `import { createRequire } from 'node:module';`,
    `const whole = createRequire(${JSON.stringify(clean.href)})(${JSON.stringify(path)});`,
    `const missing = (name) => {`,
    `  const fail = () => { throw new Error('the installed package ' + ${JSON.stringify(packageOf(path))} + ' has no export "' + name + '"'); };`,
    `  return new Proxy(function () {}, { apply: fail, construct: fail, get: fail });`,
    `};`,
    `export default whole?.__esModule && 'default' in whole ? whole.default : whole;`,
  ];
  const list = [...all].map((name, index) => {
    const key = JSON.stringify(name);
    lines.push(`const value${index} = whole && ${key} in Object(whole) ? whole[${key}] : missing(${key});`);
    return `value${index} as ${name}`;
  });
  lines.push(`export { ${list.join(', ')} };`);
  return { format: 'module', shortCircuit: true, source: lines.join('\n') };
}
