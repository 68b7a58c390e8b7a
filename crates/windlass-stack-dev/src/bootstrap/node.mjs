// Asks the runtime API for events and hands them to one handler, one at a time.
// Ends when the runtime API does: then nobody is left to work for.
import http from 'node:http';
import fs from 'node:fs';
import path from 'node:path';
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

const [host, port] = process.env.AWS_LAMBDA_RUNTIME_API.split(':');
const base = '/2018-06-01/runtime';
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });

function ask(method, target, body) {
  return new Promise((resolve, reject) => {
    const request = http.request({ host, port, method, path: base + target, agent }, (answer) => {
      const parts = [];
      answer.on('data', (part) => parts.push(part));
      answer.on('error', reject);
      answer.on('end', () =>
        resolve({ status: answer.statusCode, headers: answer.headers, body: Buffer.concat(parts).toString('utf8') }));
    });
    request.on('error', reject);
    if (body !== undefined) {
      const bytes = Buffer.from(body, 'utf8');
      request.setHeader('content-type', 'application/json');
      request.setHeader('content-length', bytes.length);
      request.write(bytes);
    }
    request.end();
  });
}

function described(error, fallback) {
  if (error instanceof Error) {
    return {
      errorType: error.name || fallback,
      errorMessage: error.message,
      trace: (error.stack || '').split('\n').map((line) => line.trim()),
    };
  }
  return { errorType: fallback, errorMessage: typeof error === 'string' ? error : JSON.stringify(error) ?? 'unknown', trace: [] };
}

// Where a module could not be loaded, for errors that have no frame in it.
function unloaded(error, file) {
  try {
    const from = /imported from (.+)$/m.exec(error?.message ?? '')?.[1];
    if (error?.code === 'ERR_MODULE_NOT_FOUND' && from) {
      const importer = from.startsWith('file:') ? fileURLToPath(from) : from;
      const missing = /'([^']+)'/.exec(error.message)?.[1] ?? '';
      const wanted = path.basename(missing).replace(/\.[cm]?js$/, '');
      const lines = fs.readFileSync(importer, 'utf8').split('\n');
      const line = lines.findIndex((text) => /\b(import|from|export)\b/.test(text) && text.includes(wanted));
      if (line >= 0) return [`at ${importer}:${line + 1}:${lines[line].indexOf(wanted) + 1}`];
    }
    const frames = (error?.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
    const hasRun = frames.some((line) => !line.includes('node:') && !line.includes(import.meta.url));
    if (error instanceof SyntaxError && !hasRun && !/^\/|^file:/.test(error.stack)) {
      // The place comes only with an error that is not caught. Code that cannot be parsed has not
      // run and will not run now.
      const again = `await import(${JSON.stringify(pathToFileURL(file).href)})`;
      const env = { ...process.env, AWS_LAMBDA_RUNTIME_API: '' };
      const child = spawnSync(process.execPath, ['--input-type=module', '-e', again], { env, encoding: 'utf8', timeout: 5000 });
      const place = /^(file:\/\/|\/).+:\d+$/m.exec(child.stderr ?? '')?.[0];
      if (place) return [place];
    }
  } catch {
    // The message alone has to do.
  }
  return [];
}

function located(root, file) {
  const wanted = path.resolve(root, file);
  for (const ending of ['', '.js', '.mjs', '.cjs', '.ts', '.mts', '.cts']) {
    const candidate = wanted + ending;
    if (fs.existsSync(candidate) && fs.statSync(candidate).isFile()) return candidate;
  }
  throw new Error(`the handler's file ${file} is not in ${root}`);
}

let entry;

async function load() {
  const root = process.env.LAMBDA_TASK_ROOT;
  const written = process.env._HANDLER;
  const dot = written.lastIndexOf('.');
  const file = located(root, written.slice(0, dot));
  const wanted = written.slice(dot + 1);
  entry = file;
  const module = file.endsWith('.cjs') ? createRequire(file)(file) : await import(pathToFileURL(file).href);
  const names = wanted === 'default' ? ['default', 'handler'] : [wanted];
  for (const source of [module, module.default]) {
    for (const name of names) {
      if (source && typeof source[name] === 'function') return source[name];
    }
  }
  if (wanted === 'default' && typeof module === 'function') return module;
  throw new Error(`${file} exports no function named ${names.join(' or ')}`);
}

function contextOf(headers) {
  const deadline = Number(headers['lambda-runtime-deadline-ms']);
  return {
    awsRequestId: headers['lambda-runtime-aws-request-id'],
    invokedFunctionArn: headers['lambda-runtime-invoked-function-arn'],
    functionName: process.env.AWS_LAMBDA_FUNCTION_NAME,
    functionVersion: process.env.AWS_LAMBDA_FUNCTION_VERSION,
    memoryLimitInMB: process.env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE,
    logGroupName: process.env.AWS_LAMBDA_LOG_GROUP_NAME,
    logStreamName: process.env.AWS_LAMBDA_LOG_STREAM_NAME,
    callbackWaitsForEmptyEventLoop: true,
    getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
  };
}

function run(handler, event, context) {
  return new Promise((resolve, reject) => {
    const finish = (error, result) => (error ? reject(error) : resolve(result));
    context.succeed = (result) => finish(null, result);
    context.fail = (error) => finish(error ?? new Error('the handler failed'));
    context.done = finish;
    const result = handler(event, context, finish);
    if (result && typeof result.then === 'function') result.then(resolve, reject);
    else if (result !== undefined || handler.length < 3) resolve(result);
  });
}

let handler;
try {
  handler = await load();
} catch (error) {
  console.error(error);
  const about = described(error, 'Runtime.ImportModuleError');
  if (entry) about.trace = [...unloaded(error, entry), ...about.trace];
  await ask('POST', '/init/error', JSON.stringify(about)).catch(() => {});
  process.exit(1);
}

for (;;) {
  let work;
  try {
    work = await ask('GET', '/invocation/next');
  } catch {
    process.exit(0);
  }
  if (work.status !== 200) process.exit(0);
  const id = work.headers['lambda-runtime-aws-request-id'];
  const trace = work.headers['lambda-runtime-trace-id'];
  if (trace) process.env._X_AMZN_TRACE_ID = trace;
  try {
    const result = await run(handler, JSON.parse(work.body), contextOf(work.headers));
    await ask('POST', `/invocation/${id}/response`, JSON.stringify(result ?? null));
  } catch (error) {
    console.error(error);
    await ask('POST', `/invocation/${id}/error`, JSON.stringify(described(error, 'Error'))).catch(() => process.exit(0));
  }
}
