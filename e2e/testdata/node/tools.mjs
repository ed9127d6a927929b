// An MCP server with 60 tools, each with a schema of some 1.5 KB. A tool answers how often it was called.
import { createInterface } from "node:readline";

const properties = {};
for (let n = 1; n <= 12; n++) {
  properties[`field${n}`] = { type: "string", description: `Field ${n} of the record, as the service of records knows it.` };
}
const tools = [];
for (let n = 1; n <= 60; n++) {
  tools.push({ name: `record${n}`, description: `Looks up records of kind ${n}.`, inputSchema: { type: "object", properties } });
}
const calls = {};

function answer({ method, params }) {
  switch (method) {
    case "initialize":
      return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "many", version: "1" } };
    case "tools/list":
      return { tools };
    case "tools/call":
      calls[params.name] = (calls[params.name] ?? 0) + 1;
      return { content: [{ type: "text", text: `${params.name} answers call ${calls[params.name]}` }] };
    default:
      return {};
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.id !== undefined) {
    console.log(JSON.stringify({ jsonrpc: "2.0", id: message.id, result: answer(message) }));
  }
}
