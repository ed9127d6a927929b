// Drives the official Anthropic SDK through everyday scenarios, and then through a session in which an agent asks again
// and again; prints one line of JSON for each. It knows nothing of epitome: the SDK takes ANTHROPIC_BASE_URL and
// ANTHROPIC_API_KEY from the environment.
import Anthropic from "@anthropic-ai/sdk";
import { page, play } from "./weather.mjs";

const client = new Anthropic();

// ask is one request; the scripted provider chooses its answer by the user's words.
const ask = (words, more) => ({
  model: "claude-sonnet-4-5",
  max_tokens: 4096,
  messages: [{ role: "user", content: words + " What is the weather in Zürich? <&> \u2028" }],
  ...more,
});

const weather = {
  name: "get_weather",
  description: "the weather of a city",
  input_schema: { type: "object", properties: { city: { type: "string" } } },
};

const textOf = (message) => message.content.filter((b) => b.type === "text").map((b) => b.text).join("");

async function chat() {
  const answer = await client.messages.create(ask("Chat."));
  return { text: textOf(answer), usage: answer.usage };
}

async function stream() {
  const events = await client.messages.create(ask("Stream.", { stream: true }));
  const kinds = [];
  for await (const event of events) kinds.push(event.type);
  return { kinds };
}

// tools lets the model ask for a tool in a stream, answers the call and reads the closing text.
async function tools() {
  const params = ask("Tools.", { tools: [weather] });
  const message = await client.messages.stream(params).finalMessage();
  const call = message.content.find((b) => b.type === "tool_use");
  params.messages.push({ role: "assistant", content: message.content });
  params.messages.push({ role: "user", content: [{ type: "tool_result", tool_use_id: call.id, content: "12 °C" }] });
  const answer = await client.messages.create(params);
  return { tool: call.name, input: call.input, text: textOf(answer) };
}

// retry meets a 529 first; sending again is the SDK's own doing.
async function retry() {
  return { text: textOf(await client.messages.create(ask("Retry."))) };
}

// refused reads a provider's error: status, type and the id in its response header.
async function refused() {
  try {
    await client.messages.create({ ...ask(""), messages: [{ role: "user", content: "" }] });
  } catch (refusal) {
    if (!(refusal instanceof Anthropic.BadRequestError)) throw refusal;
    const { status, type, message, requestID } = refusal;
    return { status, type, message, id: requestID.startsWith("req_") };
  }
  throw new Error("got an answer, want the provider's error");
}

// session asks until the model calls no tool any more. Each call brings a page of some 20 KB.
async function session(streamed) {
  const params = ask("Session.", { tools: [weather], system: "You watch the weather." });
  for (let rounds = 1; ; rounds++) {
    const message = streamed
      ? await client.messages.stream(params).finalMessage()
      : await client.messages.create(params);
    params.messages.push({ role: "assistant", content: message.content });
    const calls = message.content.filter((b) => b.type === "tool_use");
    if (calls.length === 0) return { rounds, text: textOf(message), stop: message.stop_reason };
    params.messages.push({
      role: "user",
      content: calls.map((c) => ({ type: "tool_result", tool_use_id: c.id, content: page(c.input.city) })),
    });
  }
}

await play(process.argv[2] === "session"
  ? { session: () => session(false), streamed: () => session(true) }
  : { chat, stream, tools, retry, refused });
