// Drives the official OpenAI SDK through its everyday scenarios and prints one
// line of JSON for each. It knows nothing of epitome: the SDK takes
// OPENAI_BASE_URL and OPENAI_API_KEY from the environment.
import OpenAI from "openai";

const client = new OpenAI();

// ask is one request; the fake provider chooses its answer by the model's name.
const ask = (model, more) => ({
  model,
  messages: [{ role: "user", content: "What is the weather in Zürich? <&> \u2028" }],
  ...more,
});

const weather = {
  type: "function",
  function: {
    name: "get_weather",
    parameters: { type: "object", properties: { city: { type: "string" } } },
  },
};

async function chat() {
  const answer = await client.chat.completions.create(ask("chat"));
  return { text: answer.choices[0].message.content, tokens: answer.usage.total_tokens };
}

async function stream() {
  const events = await client.chat.completions.create(
    ask("stream", { stream: true, stream_options: { include_usage: true } }),
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
  const params = ask("tools", { tools: [weather] });
  const message = await client.chat.completions.stream(params).finalMessage();
  const call = message.tool_calls[0];
  params.messages.push(message, { role: "tool", tool_call_id: call.id, content: "12 °C" });
  const answer = await client.chat.completions.create(params);
  return {
    tool: call.function.name,
    arguments: JSON.parse(call.function.arguments),
    text: answer.choices[0].message.content,
  };
}

// retry meets a 429 first; sending again is the SDK's own doing.
async function retry() {
  const answer = await client.chat.completions.create(ask("retry"));
  return { text: answer.choices[0].message.content };
}

// refused reads a provider's error: status, code and the id in its response header.
async function refused() {
  try {
    await client.chat.completions.create(ask("refused"));
  } catch (refusal) {
    if (!(refusal instanceof OpenAI.BadRequestError)) throw refusal;
    const { status, code, message, requestID } = refusal;
    return { status, code, message, id: requestID };
  }
  throw new Error("got an answer, want the provider's error");
}

for (const scenario of [chat, stream, tools, retry, refused]) {
  console.log(JSON.stringify({ ok: scenario.name, ...(await scenario()) }));
}
