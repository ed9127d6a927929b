// A method for epitome bench recall: trimMessages of @langchain/core, which keeps the system message and the newest
// that fit, for Chat Completions. npm install @langchain/core, then --method langchain="node bench/langchain.mjs"
import { readFileSync } from "node:fs"
import { AIMessage, HumanMessage, SystemMessage, ToolMessage, trimMessages } from "@langchain/core/messages"

const request = JSON.parse(readFileSync(0, "utf8"))
const tokens = (list) => list.reduce((n, m) => n + JSON.stringify(request.messages[m.id]).length / 4, 0)
const calls = (list) => list?.map((c) => ({ id: c.id, name: c.function.name, args: JSON.parse(c.function.arguments) }))
const messages = request.messages.map((m, id) => {
  const fields = { id: String(id), content: m.content ?? "", tool_call_id: m.tool_call_id,
    tool_calls: calls(m.tool_calls) }
  return new { system: SystemMessage, user: HumanMessage, assistant: AIMessage, tool: ToolMessage }[m.role](fields)
})
const kept = await trimMessages(messages, {
  maxTokens: process.env.EPITOME_WINDOW * 0.9, tokenCounter: tokens, strategy: "last", includeSystem: true,
  startOn: "human",
})
process.stdout.write(JSON.stringify({ ...request, messages: kept.map((m) => request.messages[m.id]) }))
