// Drives the official OpenAI SDK through everyday scenarios of Chat Completions, and then through a session in which an
// agent asks again and again; prints one line of JSON for each. It knows nothing of epitome: the SDK takes
// OPENAI_BASE_URL and OPENAI_API_KEY from the environment.
import OpenAI from "openai";
import { page, play } from "./weather.mjs";

const client = new OpenAI();

// ask is one request; the provider chooses its answer by the user's words.
const ask = (words, more) => ({
  model: "gpt-5.5",
  messages: [{ role: "user", content: words + " What is the weather in Zürich? <&> \u2028" }],
  ...more,
});

const weather = {
  type: "function",
  function: {
    name: "get_weather",
    description: "the weather of a city",
    parameters: { type: "object", properties: { city: { type: "string" } } },
  },
};

async function chat() {
  const answer = await client.chat.completions.create(ask("Chat."));
  return { text: answer.choices[0].message.content, usage: answer.usage };
}

async function stream() {
  const events = await client.chat.completions.create(
    ask("Stream.", { stream: true, stream_options: { include_usage: true } }),
  );
  let chunks = 0, text = "", tokens = 0;
  for await (const chunk of events) {
    chunks++;
    text += chunk.choices[0]?.delta.content ?? "";
    tokens = chunk.usage?.total_tokens ?? tokens;
  }
  return { chunks, text, tokens };
}

// tools lets the model ask for a tool in a stream, answers the call and reads the closing text.
async function tools() {
  const params = ask("Tools.", { tools: [weather] });
  const message = await client.chat.completions.stream(params).finalMessage();
  const call = message.tool_calls[0];
  params.messages.push(message, { role: "tool", tool_call_id: call.id, content: "12 °C" });
  const answer = await client.chat.completions.create(params);
  return { tool: call.function.name, arguments: call.function.arguments, text: answer.choices[0].message.content };
}

// retry meets a 503 first; sending again is the SDK's own doing.
async function retry() {
  return { text: (await client.chat.completions.create(ask("Retry."))).choices[0].message.content };
}

// refused reads a provider's error: status, code and the id in its response header.
async function refused() {
  try {
    await client.chat.completions.create({ ...ask("ü"), tool_choice: "auto" });
  } catch (refusal) {
    if (!(refusal instanceof OpenAI.BadRequestError)) throw refusal;
    const { status, code, message, requestID } = refusal;
    return { status, code, message, id: requestID.startsWith("req_") };
  }
  throw new Error("got an answer, want the provider's error");
}

// session asks until the model calls no tool any more. Each call brings a page of some 20 KB.
async function session(streamed) {
  const params = ask("Session.", { tools: [weather] });
  params.messages.unshift({ role: "system", content: "You watch the weather." });
  for (let rounds = 1; ; rounds++) {
    const message = streamed
      ? await client.chat.completions.stream(params).finalMessage()
      : (await client.chat.completions.create(params)).choices[0].message;
    params.messages.push(message);
    if (!message.tool_calls) return { rounds, text: message.content };
    for (const call of message.tool_calls) {
      params.messages.push({ role: "tool", tool_call_id: call.id, content: page(JSON.parse(call.function.arguments).city) });
    }
  }
}

await play(process.argv[2] === "session"
  ? { session: () => session(false), streamed: () => session(true) }
  : { chat, stream, tools, retry, refused });
