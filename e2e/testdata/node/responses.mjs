// Drives the official OpenAI SDK through everyday scenarios of Responses, and then through sessions in which an agent
// asks again and again: stateless ones, one that lies with the provider, and one of the OpenAI Agents SDK. It prints one
// line of JSON for each. It knows nothing of epitome: the SDKs take OPENAI_BASE_URL and OPENAI_API_KEY from the
// environment.
import OpenAI from "openai";
import { page, play } from "./weather.mjs";

const client = new OpenAI();

// ask is one request; the scripted provider chooses its answer by the user's words.
const ask = (words, more) => ({
  model: "gpt-5.5",
  input: [{ role: "user", content: words + " What is the weather in Zürich? <&> \u2028" }],
  ...more,
});

const weather = {
  type: "function",
  name: "get_weather",
  description: "the weather of a city",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"], additionalProperties: false },
  strict: true,
};

// stateless is what an agent sends that keeps its conversation itself.
const stateless = { store: false, include: ["reasoning.encrypted_content"], tools: [weather] };

const callsOf = (response) => response.output.filter((i) => i.type === "function_call");

// said is what the model said, as its next request has it: without what the SDK has parsed.
const said = (response) => response.output.map(({ parsed_arguments, ...item }) => item);

const answerTo = (call, text) => ({ type: "function_call_output", call_id: call.call_id, output: text });

async function chat() {
  const answer = await client.responses.create(ask("Chat."));
  return { text: answer.output_text, usage: answer.usage };
}

async function stream() {
  const events = await client.responses.create(ask("Stream.", { stream: true }));
  const kinds = [];
  for await (const event of events) kinds.push(event.type);
  return { kinds };
}

// streamed is a response read from its stream.
const streamed = (params) => client.responses.stream(params).finalResponse();

// tools lets the model ask for a tool in a stream, answers the call and reads the closing text.
async function tools() {
  const params = ask("Tools.", stateless);
  const response = await streamed(params);
  const [call] = callsOf(response);
  params.input.push(...said(response), answerTo(call, "12 °C"));
  const answer = await client.responses.create(params);
  return { tool: call.name, input: call.arguments, text: answer.output_text };
}

// kept is the same with a conversation that the provider keeps.
async function kept() {
  const first = await client.responses.create(ask("Tools.", { tools: [weather] }));
  const input = callsOf(first).map((c) => answerTo(c, "12 °C"));
  const answer = await client.responses.create({ ...ask(""), input, previous_response_id: first.id, tools: [weather] });
  return { text: answer.output_text, previous: answer.previous_response_id === first.id };
}

// retry meets a 503 first; sending again is the SDK's own doing.
async function retry() {
  return { text: (await client.responses.create(ask("Retry."))).output_text };
}

// refused reads a provider's error: status, code and the id in its response header.
async function refused() {
  try {
    await client.responses.create({ ...ask(""), input: [{ role: "tool", content: "x" }] });
  } catch (refusal) {
    if (!(refusal instanceof OpenAI.BadRequestError)) throw refusal;
    const { status, code, param, message, requestID } = refusal;
    return { status, code, param, message, id: requestID.startsWith("req_") };
  }
  throw new Error("got an answer, want the provider's error");
}

// session asks until the model calls no tool any more. Each call brings a page of some 20 KB.
async function session(send) {
  const params = ask("Session.", { ...stateless, instructions: "You watch the weather." });
  for (let rounds = 1; ; rounds++) {
    const response = await send(params);
    const calls = callsOf(response);
    params.input.push(...said(response));
    if (calls.length === 0) return { rounds, text: response.output_text, status: response.status };
    for (const call of calls) params.input.push(answerTo(call, page(JSON.parse(call.arguments).city)));
  }
}

// provided lies with the provider: only what is new is sent. Each call brings a page of some 60 KB.
async function provided() {
  const settings = { tools: [weather], instructions: "You watch the weather." };
  let params = ask("Provided.", settings);
  for (let rounds = 1; ; rounds++) {
    const response = await client.responses.create(params);
    const calls = callsOf(response);
    if (calls.length === 0) return { rounds, text: response.output_text };
    const input = calls.map((c) => answerTo(c, page(JSON.parse(c.arguments).city, 720)));
    params = { ...ask("", settings), input, previous_response_id: response.id };
  }
}

// agents has the Agents SDK run its own loop.
async function agents(stream) {
  const { Agent, Runner, setTracingDisabled, tool } = await import("@openai/agents"); // large
  setTracingDisabled(true);
  let calls = 0;
  const watcher = new Agent({
    name: "Watcher",
    instructions: "You watch the weather.",
    model: "gpt-5.5",
    tools: [
      tool({
        name: "get_weather",
        description: "the weather of a city",
        parameters: weather.parameters,
        execute: async ({ city }) => (calls++, page(city)),
      }),
    ],
  });
  const result = await new Runner().run(watcher, "Session. What is the weather?", { maxTurns: 100, stream });
  if (stream) await result.completed;
  return { rounds: calls + 1, text: result.finalOutput };
}

await play(
  {
    session: { session: () => session((p) => client.responses.create(p)), streamed: () => session(streamed) },
    provided: { provided },
    agents: { agents: () => agents(false), streamed: () => agents(true) },
  }[process.argv[2]] ?? { chat, stream, tools, kept, retry, refused },
);
