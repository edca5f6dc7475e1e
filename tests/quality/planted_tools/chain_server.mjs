// A server whose replies don't tell how far a call got: only its code does.
import { pathToFileURL } from "node:url";

const sdk = pathToFileURL(`${process.argv[2]}/@modelcontextprotocol/sdk/dist/esm/`).href;
const { McpServer } = await import(`${sdk}server/mcp.js`);
const { StdioServerTransport } = await import(`${sdk}server/stdio.js`);
const { z } = await import(pathToFileURL(`${process.argv[2]}/zod/index.js`).href);

const server = new McpServer({ name: "labels", version: "1.0.0" });
const asked = { title: z.string(), copies: z.number().int(), tags: z.array(z.string()), width: z.number().optional() };

function dies({ title, copies, tags, width }) {
  if (copies % 8 !== 5) return false;
  if (!title.includes("-")) return false;
  if (tags.length !== 3) return false;
  return (width ?? 10) < 0;
}

server.registerTool("print_labels", { description: "Print labels for a shelf.", inputSchema: asked }, (given) => {
  if (dies(given)) process.exit(70);
  return { content: [{ type: "text", text: "printed" }] };
});
await server.connect(new StdioServerTransport());
