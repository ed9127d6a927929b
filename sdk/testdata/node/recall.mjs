// Drives the official SDKs through a loop of an agent that watches the weather, in the API that the first argument names,
// in whole answers and in streams, and then through one that has no tools. Later the user asks for something that was said
// long ago. It knows nothing of epitome, and has no tool by which it could read anything again. It prints one line of JSON
// for each.
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { page, play } from "./weather.mjs";

const about = { name: "get_weather", description: "the weather of a city" };
const schema = { type: "object", properties: { city: { type: "string" } } };

// Each API says how a request is sent, and what the loop has to know of an answer and to put into the next request.

const chat = (tools) => {
  const client = new OpenAI().chat.completions;
  const params = {
    model: "gpt-4o",
    ...(tools && { tools: [{ type: "function", function: { ...about, parameters: schema } }] }),
    messages: [{ role: "system", content: "You watch the weather." }],
  };
  return {
    ask: (words) => params.messages.push({ role: "user", content: words }),
    send: async (streamed) => {
      const answer = streamed
        ? await client.stream({ ...params, stream_options: { include_usage: true } }).finalChatCompletion()
        : await client.create(params);
      const { content, tool_calls } = answer.choices[0].message;
      params.messages.push({ role: "assistant", content, ...(tool_calls?.length ? { tool_calls } : {}) });
      return {
        text: content,
        end: answer.choices[0].finish_reason,
        tokens: answer.usage.total_tokens,
        calls: (tool_calls ?? []).map((c) => ({ id: c.id, name: c.function.name, input: JSON.parse(c.function.arguments) })),
      };
    },
    tell: (results) =>
      params.messages.push(...results.map(([id, content]) => ({ role: "tool", tool_call_id: id, content }))),
  };
};

const messages = (tools) => {
  const client = new Anthropic().messages;
  const params = {
    model: "claude-sonnet-4-5",
    max_tokens: 2048,
    ...(tools && { tools: [{ ...about, input_schema: schema }] }),
    system: "You watch the weather.",
    messages: [],
  };
  return {
    ask: (words) => params.messages.push({ role: "user", content: words }),
    send: async (streamed) => {
      const answer = streamed ? await client.stream(params).finalMessage() : await client.create(params);
      params.messages.push({ role: "assistant", content: answer.content });
      return {
        text: answer.content.filter((b) => b.type === "text").map((b) => b.text).join("\n\n"),
        end: answer.stop_reason,
        tokens: answer.usage.input_tokens + answer.usage.output_tokens,
        calls: answer.content.filter((b) => b.type === "tool_use"),
      };
    },
    tell: (results) =>
      params.messages.push({
        role: "user",
        content: results.map(([id, content]) => ({ type: "tool_result", tool_use_id: id, content })),
      }),
  };
};

const responses = (tools) => {
  const client = new OpenAI().responses;
  const params = {
    model: "gpt-5.5",
    store: false,
    include: ["reasoning.encrypted_content"],
    instructions: "You watch the weather.",
    ...(tools && { tools: [{ type: "function", ...about, parameters: schema, strict: false }] }),
    input: [],
  };
  return {
    ask: (words) => params.input.push({ role: "user", content: words }),
    send: async (streamed) => {
      const answer = streamed ? await client.stream(params).finalResponse() : await client.create(params);
      params.input.push(...answer.output.map(({ parsed_arguments, ...item }) => item));
      const text = (item) => item.content.map((part) => part.text).join("");
      return {
        text: answer.output.filter((i) => i.type === "message").map(text).join("\n\n"),
        end: answer.status,
        tokens: answer.usage.total_tokens,
        tools: answer.tools.map((t) => t.name),
        calls: answer.output
          .filter((i) => i.type === "function_call")
          .map((c) => ({ id: c.call_id, name: c.name, input: JSON.parse(c.arguments) })),
      };
    },
    tell: (results) =>
      params.input.push(...results.map(([id, output]) => ({ type: "function_call_output", call_id: id, output }))),
  };
};

// session asks three times. Until the model calls no tool any more, each call brings a page of some 20 KB.
async function session(api, streamed) {
  const names = new Set(), tools = new Set(), asked = [];
  for (const words of ["Watch the weather.", "What was hour 107 in city_1?", "Is that all?"]) {
    api.ask(words);
    let answer = await api.send(streamed);
    for (; answer.calls.length > 0; answer = await api.send(streamed)) {
      for (const call of answer.calls) names.add(call.name);
      for (const tool of answer.tools ?? []) tools.add(tool);
      api.tell(answer.calls.map((c) => [c.id, page(c.input.city)]));
    }
    asked.push({ text: answer.text, end: answer.end, tokens: answer.tokens });
  }
  return { names: [...names], tools: [...tools], asked };
}

// talk has no tool at all: the user tells it of the cities, until old turns no longer fit.
async function talk(api, streamed) {
  const asked = [];
  const cities = Array.from({ length: 12 }, (_, n) => `Note this. ${page(`city_${n + 1}`)}`);
  for (const words of [`Hello.${streamed ? " Be quick." : ""}`, ...cities, "What was hour 107 in city_1?", "Is that all?"]) {
    api.ask(words);
    const answer = await api.send(streamed);
    if (answer.calls.length > 0) throw new Error("got a call, and has no tool");
    asked.push({ text: answer.text, end: answer.end, tokens: answer.tokens });
  }
  return { names: [], tools: [], asked: asked.slice(-3) };
}

const api = { chat, messages, responses }[process.argv[2]];
await play({
  session: () => session(api(true), false),
  streamed: () => session(api(true), true),
  talk: () => talk(api(false), false),
  talkStreamed: () => talk(api(false), true),
});
