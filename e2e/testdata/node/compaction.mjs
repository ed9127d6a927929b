// Drives the compactions of the official OpenAI SDK and the OpenAI Agents SDK: a conversation is compacted at one go, by
// a threshold, and by a session. It prints one line of JSON for each. It knows nothing of epitome: the SDKs take
// OPENAI_BASE_URL and OPENAI_API_KEY from the environment.
import OpenAI from "openai";
import { Agent, MemorySession, OpenAIResponsesCompactionSession, Runner, setTracingDisabled } from "@openai/agents";
import { page, play } from "./weather.mjs";

const client = new OpenAI({ maxRetries: 0 });
const model = "gpt-5.5";
const user = (content) => ({ role: "user", content });
const history = [user("Remember. The release is on the 4th of March.")];
for (const city of ["Bern", "Chur", "Genf", "Olten", "Thun", "Wil"]) {
  const content = `port = 7719. I take the lock before the file. ${page(city, 60)}`;
  history.push({ role: "assistant", content }, user(`Where do you look after ${city}?`));
}
const items = (list) => list.filter((i) => i.type === "compaction").length;
const streamed = (params) => client.responses.stream(params).finalResponse();
const whole = (params) => client.responses.create(params);

// compact goes on with what the provider leaves of a conversation.
async function compact(send) {
  const { object, output, usage } = await client.responses.compact({ model, input: history });
  const last = output.at(-1).type;
  const answer = await send({ model, store: false, input: [...output, user("Go on.")] });
  return { object, items: items(output), last, counted: usage.total_tokens > 0, text: answer.output_text };
}

// managed says from which size on the provider may compact.
async function managed(send) {
  const context_management = [{ type: "compaction", compact_threshold: 6000 }];
  const answer = await send({ model, store: false, input: [...history, user("Be brief.")], context_management });
  return { text: answer.output_text, status: answer.status };
}

// session has the Agents SDK compact behind its turns.
async function session(stream) {
  setTracingDisabled(true);
  const underlyingSession = new MemorySession();
  const shouldTriggerCompaction = ({ compactionCandidateItems }) => compactionCandidateItems.length >= 2;
  const kept = new OpenAIResponsesCompactionSession({ client, model, underlyingSession, shouldTriggerCompaction });
  const agent = new Agent({ name: "Teller", instructions: "You tell.", model, modelSettings: { store: false } });
  let text;
  for (const words of [history[0].content, "Write that port = 7719 down.", "Go on.", "Go on."]) {
    const result = await new Runner().run(agent, words, { session: kept, stream });
    if (stream) await result.completed;
    text = result.finalOutput;
  }
  return { items: items(await underlyingSession.getItems()), text };
}

await play({
  compact: () => compact(whole),
  compactStreamed: () => compact(streamed),
  managed: () => managed(whole),
  managedStreamed: () => managed(streamed),
  session: () => session(false),
  sessionStreamed: () => session(true),
});
