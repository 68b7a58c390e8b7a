// Shows every page of generated projects in Chromium, with the rows of their own seed, and checks what
// their specs state: titles, colours, fonts, layout. Also that no page throws, logs an error or is wider
// than a phone. Drives the browser over its debugging protocol; needs nothing but Node.
//
//   node generated_pages.mjs CHROMIUM PROJECTS ROWS OUT
//
// PROJECTS holds <name>/dist and <name>/src, ROWS holds <name>.json, OUT gets the screenshots.

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";

const [chromium, projects, rowsFolder, out] = process.argv.slice(2);

/** What the specs say, read by hand. Colours by what they are stated for. */
const stated = {
  "clinic-appointments": {
    product: "Riverside Care",
    pages: ["My Appointments", "Day View"],
    background: "#FFFFFF",
    text: "#1F2937",
    buttons: "#008080",
    header: "#000080",
    variables: { "--color-warning": "#B45309" },
    font: "Source Sans 3",
  },
  "knowledge-base": {
    product: "Lorekeeper",
    pages: ["Article Health"],
    background: "#FFFFF0",
    text: "#1A1A1A",
    buttons: "#673AB6",
    font: "Inter",
    headingFont: "Fraunces",
    sidebar: true,
  },
  "quiz-platform": {
    product: "Quizly",
    pages: ["Landing page", "Dashboard", "Quiz Editor", "Results"],
    background: "#FFF8E7",
    text: "#2F4F4F",
    buttons: "#006400",
    variables: { "--color-secondary": "#FF7F50" },
    font: "Nunito",
  },
  warehouse: {
    product: "StockPilot",
    pages: ["Dashboard"],
    background: "#D3D3D3",
    text: "#000000",
    buttons: "#4169E1",
    variables: { "--color-secondary": "#F59E0B", "--color-destructive": "#DC143C" },
    font: "IBM Plex Sans",
    sidebar: true,
  },
};

const desktop = { width: 1280, height: 900 };
const phone = { width: 390, height: 844 };

let checks = 0;
const failures = [];
function check(what, holds) {
  checks += 1;
  if (!holds) {
    failures.push(what);
  }
}

// The server: the built files, the first page for every other path, and the seed's rows where the
// project looks for its database.

const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".woff2": "font/woff2" };
let dist = "";
let rows = {};

function answerRows(request, response, url) {
  const found = (rows[url.pathname.split("/").pop()] ?? []).filter((row) =>
    [...url.searchParams].every(([column, wanted]) => !wanted.startsWith("eq.") || `eq.${row[column]}` === wanted),
  );
  const single = (request.headers.accept ?? "").includes("vnd.pgrst.object");
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify(single ? (found[0] ?? null) : found));
}

const server = createServer((request, response) => {
  const url = new URL(request.url, "http://app.test");
  if (url.pathname.startsWith("/rest/v1/")) {
    answerRows(request, response, url);
    return;
  }
  if (url.pathname === "/favicon.ico") {
    response.writeHead(204).end();
    return;
  }
  const wanted = join(dist, url.pathname);
  const path = existsSync(wanted) && statSync(wanted).isFile() ? wanted : join(dist, "index.html");
  response.writeHead(200, { "content-type": types[extname(path)] ?? "application/octet-stream" });
  response.end(readFileSync(path));
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));

// The browser.

const profile = mkdtempSync(join(tmpdir(), "windlass-chromium-"));
const browser = spawn(chromium, [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--disable-dev-shm-usage",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--hide-scrollbars",
  `--host-resolver-rules=MAP app.test 127.0.0.1:${server.address().port}, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1`,
  `--user-data-dir=${profile}`,
  "--remote-debugging-port=0",
  "about:blank",
]);
const endpoint = await new Promise((resolve, reject) => {
  let printed = "";
  browser.stderr.on("data", (text) => {
    printed += text;
    const found = /DevTools listening on (\S+)/.exec(printed);
    if (found) {
      resolve(found[1]);
    }
  });
  browser.once("error", reject);
  browser.once("exit", (code) => reject(new Error(`Chromium ended with ${code}\n${printed}`)));
});

const socket = new WebSocket(endpoint);
await new Promise((resolve, reject) => {
  socket.addEventListener("open", resolve, { once: true });
  socket.addEventListener("error", reject, { once: true });
});
const waiting = new Map();
let complaints = [];
let next = 0;
socket.addEventListener("message", ({ data }) => {
  const message = JSON.parse(data);
  if (message.id !== undefined) {
    const { resolve, reject } = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.error) {
      reject(new Error(message.error.message));
    } else {
      resolve(message.result);
    }
  } else if (message.method === "Runtime.exceptionThrown") {
    const details = message.params.exceptionDetails;
    complaints.push(details.exception?.description ?? details.text);
  } else if (message.method === "Runtime.consoleAPICalled" && message.params.type === "error") {
    complaints.push(message.params.args.map((part) => part.value ?? part.description).join(" "));
  } else if (message.method === "Log.entryAdded" && message.params.entry.level === "error") {
    complaints.push(`${message.params.entry.text} ${message.params.entry.url ?? ""}`);
  }
});
function send(method, params = {}, sessionId = undefined) {
  next += 1;
  const id = next;
  socket.send(JSON.stringify({ id, method, params, sessionId }));
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
}
const { targetId } = await send("Target.createTarget", { url: "about:blank" });
const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
const page = (method, params) => send(method, params, sessionId);
await Promise.all([page("Page.enable"), page("Runtime.enable"), page("Log.enable")]);

async function evaluate(expression) {
  const { result, exceptionDetails } = await page("Runtime.evaluate", {
    expression,
    awaitPromise: true,
    returnByValue: true,
  });
  if (exceptionDetails) {
    throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  }
  return result.value;
}

async function size(screen) {
  await page("Emulation.setDeviceMetricsOverride", { ...screen, deviceScaleFactor: 1, mobile: false });
}

/** Goes to a page and waits until its title and heading are there and nothing is loading. */
async function open(path) {
  complaints = [];
  await page("Page.navigate", { url: `http://app.test${path}` });
  return evaluate(`new Promise((resolve, reject) => {
    const end = Date.now() + 15000;
    const look = () => {
      const here = location.host === "app.test" && document.readyState === "complete";
      const titled = document.title.includes(" · ");
      if (here && titled && document.querySelector("h1") && !document.querySelector("[class*='animate-pulse']")) {
        resolve({ title: document.title, heading: document.querySelector("h1").textContent });
      } else if (Date.now() > end) {
        reject(new Error("the page did not settle: " + document.body.innerText.slice(0, 300)));
      } else {
        setTimeout(look, 20);
      }
    };
    look();
  })`);
}

async function shoot(name) {
  const { data } = await page("Page.captureScreenshot", { format: "png" });
  writeFileSync(join(out, `${name}.png`), Buffer.from(data, "base64"));
}

/** The pages of a project, as its router has them, with keys of real rows. */
function routes(name) {
  const text = readFileSync(join(projects, name, "src/App.tsx"), "utf8");
  const all = [...text.matchAll(/<Route path="([^"]+)" element=\{<Titled title="([^"]+)">/g)];
  return all
    .map(([, path, title]) => {
      const table = (path.split("/")[1] ?? "").replaceAll("-", "_");
      return { path: path.replace(/:\w+/, rows[table]?.[0]?.id ?? ":none"), title };
    })
    .filter(({ path }) => path !== "*" && !path.includes(":none"));
}

const hex = (text) => {
  const parts = /^rgb\((\d+), (\d+), (\d+)\)$/.exec(text);
  return parts ? `#${parts.slice(1).map((part) => Number(part).toString(16).padStart(2, "0")).join("")}`.toUpperCase() : text;
};
const style = (selector, property) =>
  evaluate(`getComputedStyle(document.querySelector(${JSON.stringify(selector)})).getPropertyValue("${property}").trim()`);

async function look(name, wanted) {
  dist = join(projects, name, "dist");
  rows = JSON.parse(readFileSync(join(rowsFolder, `${name}.json`), "utf8"));
  const pages = routes(name);
  const titles = pages.map(({ title }) => title);
  for (const title of wanted.pages) {
    check(`${name}: there is a page "${title}" (${titles.join(", ")})`, titles.includes(title));
  }
  for (const [at, { path, title }] of pages.entries()) {
    await size(desktop);
    const shown = await open(path);
    check(`${name} ${path}: titled "${shown.title}"`, shown.title === `${title} · ${wanted.product}`);
    check(`${name} ${path}: headed "${shown.heading}"`, [title, wanted.product].includes(shown.heading));
    check(`${name} ${path}: complains: ${complaints.join("; ")}`, complaints.length === 0);
    check(`${name} ${path}: shows an error`, (await evaluate(`document.querySelector("[role=alert]")?.innerText ?? ""`)) === "");
    await shoot(`${name}-${String(at).padStart(2, "0")}${path.replaceAll("/", "-").replace(/-[0-9a-f]{8}-.{27}/, "-id")}`);
    await size(phone);
    const wide = await evaluate("document.documentElement.scrollWidth");
    check(`${name} ${path}: ${wide} px wide on a phone`, wide <= phone.width);
  }
  await open("/");
  await shoot(`${name}-phone`);
  await size(desktop);
  await open("/");
  check(`${name}: background`, hex(await style("#root > *", "background-color")) === wanted.background);
  check(`${name}: text`, hex(await style("#root > *", "color")) === wanted.text);
  check(`${name}: font`, (await style("body", "font-family")).includes(wanted.font));
  check(`${name}: font of headings`, (await style("h1", "font-family")).includes(wanted.headingFont ?? wanted.font));
  if (wanted.header) {
    check(`${name}: header`, hex(await style("header", "background-color")) === wanted.header);
  }
  for (const [variable, value] of Object.entries(wanted.variables ?? {})) {
    // However the style sheet spells it, as the browser paints it.
    const found = await evaluate(`(() => {
      const element = document.body.appendChild(document.createElement("i"));
      element.style.color = "var(${variable})";
      const colour = getComputedStyle(element).color;
      element.remove();
      return colour;
    })()`);
    check(`${name}: ${variable} is ${hex(found)}`, hex(found) === value);
  }
  const header = await evaluate(`document.querySelector("header").getBoundingClientRect().width`);
  check(`${name}: the navigation stands where it should`, wanted.sidebar ? header < 400 : header > 1000);
  await open("/sign-in");
  check(`${name}: buttons`, hex(await style("main button", "background-color")) === wanted.buttons);
}

try {
  mkdirSync(out, { recursive: true });
  for (const [name, wanted] of Object.entries(stated)) {
    await look(name, wanted);
  }
} finally {
  browser.removeAllListeners("exit");
  const gone = new Promise((resolve) => browser.once("exit", resolve));
  browser.kill();
  await gone;
  server.close();
  server.closeAllConnections();
  rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
}
for (const failure of failures) {
  console.error(`FAILED ${failure}`);
}
console.log(`${checks - failures.length} of ${checks} checks in Chromium`);
process.exitCode = failures.length === 0 ? 0 : 1;
