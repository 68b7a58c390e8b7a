// Bundles like esbuild alone, after TypeScript wrote the metadata of decorators into the files
// that have some. Request on stdin; messages of esbuild on stderr.
'use strict';
const { readFileSync, writeFileSync } = require('node:fs');
const { dirname } = require('node:path');

const request = JSON.parse(readFileSync(0, 'utf8'));
process.env.ESBUILD_BINARY_PATH = request.esbuild;
const esbuild = require(request.interface);
const ts = require(request.typescript);

const known = new Map();

// The options of the configuration that is nearest to a file.
function optionsOf(folder) {
  if (known.has(folder)) return known.get(folder);
  const file = request.options.tsconfig ?? ts.findConfigFile(folder, ts.sys.fileExists);
  let options = {};
  if (file) {
    const { config } = ts.readConfigFile(file, ts.sys.readFile);
    const host = { ...ts.sys, readDirectory: () => [] };
    options = ts.parseJsonConfigFileContent(config ?? {}, host, dirname(file)).options;
  }
  known.set(folder, options);
  return options;
}

function written(file, source) {
  const own = optionsOf(dirname(file));
  const target = own.target ?? ts.ScriptTarget.ES2022;
  return ts.transpileModule(source, {
    fileName: file,
    compilerOptions: {
      emitDecoratorMetadata: true,
      experimentalDecorators: true,
      // Metadata says `Object` instead of the type where null is a type of its own.
      strictNullChecks: own.strictNullChecks ?? own.strict ?? false,
      useDefineForClassFields: own.useDefineForClassFields ?? target >= ts.ScriptTarget.ES2022,
      // The rest is esbuild's work.
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.Preserve,
      jsx: ts.JsxEmit.Preserve,
      isolatedModules: true,
      inlineSourceMap: true,
      inlineSources: true,
    },
  }).outputText;
}

const decorators = {
  name: 'decorators',
  setup(build) {
    build.onLoad({ filter: /\.[mc]?tsx?$/ }, ({ path }) => {
      if (/[\\/]node_modules[\\/]/.test(path)) return undefined;
      const source = readFileSync(path, 'utf8');
      if (!/(?:^|[\s(,;{}])@[A-Za-z_$(]/m.test(source)) return undefined;
      // Still read as TypeScript: an import that was a type has no value, which is no error there.
      return { contents: written(path, source), loader: path.endsWith('x') ? 'tsx' : 'ts' };
    });
  },
};

esbuild
  .build({ ...request.options, metafile: true, plugins: [decorators] })
  .then(({ metafile }) => writeFileSync(request.record, JSON.stringify(metafile)))
  .then(
    () => process.exit(0),
    (error) => {
      // esbuild has printed its own messages.
      if (!error?.errors) console.error(error);
      process.exit(1);
    },
  );
