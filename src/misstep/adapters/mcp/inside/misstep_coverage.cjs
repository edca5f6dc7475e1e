// Loaded by a Node that runs a server under test: tells the client which of the server's own code runs.
//
// V8's coverage takes milliseconds each time it is read. Instead, calls are put into the functions of the server's
// own files when these are loaded, with the parser that Node itself contains. They do nothing where the code runs
// elsewhere, such as in a browser. The receiving end, `server_code.py`, describes what is sent.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const Module = require("node:module");
const { pathToFileURL, fileURLToPath } = require("node:url");

const CHANNEL = "_MISSTEP_COVERAGE"; // the descriptor of a pipe, and its inode
const HIT = "globalThis._misstepHit?.";
const FILE = "globalThis._misstepFile?.";
const FUNCTIONS = 1 << 12; // at most, in a file
const PLACES = 1 << 12; // at most, in a function
const MOST_COUNTED = 64;
const LONGEST = 1 << 20; // characters of a file; longer ones are bundles with their dependencies
const LAUNCHERS = /[\\/](npm|npx|pnpm|yarn|corepack|tsx)[\\/]/;
const FUNCTION = /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/;
const LOOP = /^(For|ForIn|ForOf|While|DoWhile)Statement$/;

let root = "";
let parser = null;

// ---- in the source of a file

function parse(source, isModule) {
  if (parser === null) {
    parser = {};
    const text = process.binding("natives")["internal/deps/acorn/acorn/dist/acorn"];
    new Function("exports", "module", text)(parser, { exports: parser });
  }
  return parser.parse(source, {
    ecmaVersion: "latest",
    sourceType: isModule ? "module" : "script",
    locations: true,
    allowReturnOutsideFunction: true,
    allowHashBang: true,
  });
}

function keyOf(file) {
  let hash = 0x811c9dc5;
  for (const each of Buffer.from(file)) hash = Math.imul(hash ^ each, 0x01000193) >>> 0;
  return hash >>> 2; // a small integer
}

/** The source with calls of `HIT` in its functions; `FILE` is told about them first. */
function instrumented(source, file, isModule) {
  const key = keyOf(file);
  const functions = []; // lines of the places of each, from 1
  const added = []; // [position, text], those at one position in order
  const add = (position, text) => added.push([position, text]);
  const enter = (of) => `${HIT}(${key},${of},0)`;
  const reach = (of, node) => `${HIT}(${key},${of},${functions[of].push(node.loc.start.line) % PLACES})`;

  function wrap(of, node, before, after) {
    add(node.start, before);
    visit(node, of);
    add(node.end, after);
  }
  function optional(node, of) {
    if (of < 0) visit(node, of);
    else wrap(of, node, `(${reach(of, node)},`, ")");
  }
  function block(statements, of) {
    for (const each of statements) {
      const isPlain = each.directive === undefined && each.type !== "FunctionDeclaration";
      if (of >= 0 && isPlain) add(each.start, `${reach(of, each)};`);
      visit(each, of);
    }
  }
  function body(node, of) {
    if (of < 0 || !node || node.type === "BlockStatement" || node.type === "FunctionDeclaration") visit(node, of);
    else wrap(of, node, `{${reach(of, node)};`, "}");
  }
  function inside(node) {
    if (functions.length === FUNCTIONS) return;
    const of = functions.push([]) - 1;
    node.params.forEach((each) => visit(each, -1));
    if (node.body.type !== "BlockStatement") {
      wrap(of, node.body, `(${enter(of)},${reach(of, node.body)},`, ")");
      return;
    }
    const directives = node.body.body.filter((each) => each.directive !== undefined);
    add(directives.length ? directives.at(-1).end : node.body.start + 1, `;${enter(of)};`);
    block(node.body.body, of);
  }
  function visit(node, of) {
    if (Array.isArray(node)) return node.forEach((each) => visit(each, of));
    if (!node || typeof node.type !== "string") return;
    if (FUNCTION.test(node.type)) return inside(node);
    if (node.type === "BlockStatement") return block(node.body, of);
    if (node.type === "StaticBlock") return block(node.body, -1);
    if (node.type === "PropertyDefinition") return visit([node.key, node.value], -1);
    if (node.type === "LogicalExpression") return visit(node.left, of), optional(node.right, of);
    if (node.type === "ConditionalExpression")
      return visit(node.test, of), optional(node.consequent, of), optional(node.alternate, of);
    if (node.type === "SwitchCase") return visit(node.test, of), block(node.consequent, of);
    if (node.type === "IfStatement")
      return visit(node.test, of), body(node.consequent, of), body(node.alternate, of);
    for (const name of Object.keys(node)) {
      if (name === "body" && LOOP.test(node.type)) body(node.body, of);
      else if (name !== "loc") visit(node[name], of);
    }
  }

  const program = parse(source, isModule);
  visit(program.body, -1);
  const first = program.body.find((each) => each.directive === undefined);
  if (!first) return source;
  const told = JSON.stringify(JSON.stringify({ key, file, functions }));
  const parts = [];
  let done = 0;
  for (const [position, text] of [[first.start, `${FILE}(${told});`], ...inOrder(added)]) {
    parts.push(source.slice(done, position), text);
    done = position;
  }
  return parts.join("") + source.slice(done);
}

/** Sorted by position; the sort is stable, so that what was added first stays first. */
function inOrder(added) {
  return added.sort((one, other) => one[0] - other[0]);
}

function isOwn(file) {
  const own = path.relative(root, file);
  return !own.startsWith("..") && !path.isAbsolute(own) && !own.split(path.sep).includes("node_modules");
}

function sourceFor(source, file, isModule) {
  try {
    if (source.length <= LONGEST && isOwn(file)) return instrumented(source, file, isModule);
  } catch {
    // It stays as it is.
  }
  return source;
}

// ---- hooks for modules; for Node without `registerHooks` this file is loaded again in a thread of its own

exports.initialize = (data) => {
  root = data.root;
};

function changed(url, loaded) {
  if (loaded.format !== "module" || !loaded.source || !url.startsWith("file:")) return loaded;
  const text = Buffer.from(loaded.source).toString();
  return { ...loaded, source: sourceFor(text, fileURLToPath(url), true) };
}

exports.load = async (url, context, next) => changed(url, await next(url, context));

function instrumentModules() {
  const compile = Module.prototype._compile;
  Module.prototype._compile = function (content, file, ...rest) {
    const isScript = typeof content === "string" && rest[0] !== "module";
    return compile.call(this, isScript ? sourceFor(content, file, false) : content, file, ...rest);
  };
  if (Module.registerHooks) Module.registerHooks({ load: (url, context, next) => changed(url, next(url, context)) });
  else if (Module.register) Module.register(pathToFileURL(__filename), { data: { root } });
}

// ---- in the running server

/** What code calls: each transition between two places in a function is sent once, as far as the pipe has room. */
function sender(pipe) {
  const files = new Map(); // the state of each function, by file
  const waiting = [];
  function send(text) {
    if (pipe < 0) return;
    waiting.push(Buffer.from(text));
    try {
      while (waiting.length) {
        waiting[0] = waiting[0].subarray(fs.writeSync(pipe, waiting[0]));
        if (waiting[0].length) break;
        waiting.shift();
      }
    } catch (error) {
      if (error.code !== "EAGAIN") pipe = -1; // else the client empties the pipe after each call
    }
  }
  function hit(key, of, place) {
    let functions = files.get(key);
    if (functions === undefined) files.set(key, (functions = []));
    const state = (functions[of] ??= { last: 0, counts: new Map(), sent: new Set() });
    if (place === 0) {
      state.last = 0;
      state.counts.clear();
      return;
    }
    const edge = state.last * PLACES + place; // a small integer, which is fast
    const count = (state.counts.get(edge) ?? 0) + 1;
    state.counts.set(edge, count);
    if ((count & (count - 1)) === 0 && count <= MOST_COUNTED) {
      const taken = edge * 8 + Math.log2(count);
      if (!state.sent.has(taken)) {
        state.sent.add(taken);
        send(`${key * FUNCTIONS + of} ${state.last} ${place} ${count}\n`);
      }
    }
    state.last = place;
  }
  return { hit, send };
}

function start() {
  const [pipe, inode] = (process.env[CHANNEL] ?? "").split(" ").map(Number);
  const script = process.argv[1];
  if (!pipe || !script || LAUNCHERS.test(fs.realpathSync(script))) return;
  delete process.env[CHANNEL]; // programs that the server starts are not it
  const found = fs.fstatSync(pipe);
  if (!found.isFIFO() || found.ino !== inode) return; // a program in between has closed it
  root = path.dirname(fs.realpathSync(script));
  for (let folder = root; folder !== path.dirname(folder); folder = path.dirname(folder)) {
    if (fs.existsSync(path.join(folder, "package.json"))) {
      root = folder;
      break;
    }
  }
  const { hit, send } = sender(pipe);
  globalThis._misstepHit = hit;
  globalThis._misstepFile = (told) => send(`${told}\n`);
  instrumentModules();
}

if (require("node:worker_threads").isMainThread) {
  try {
    start();
  } catch {
    // The client knows only the replies.
  }
}
