import { convertToLlm, type ExtensionAPI } from "@earendil-works/pi-coding-agent";

const text = (content: any) =>
	typeof content === "string" ? content : content.map((c: any) => c.text ?? "").join("\n");

// A message of pi as one of Chat Completions.
function chat(m: any) {
	if (m.role === "toolResult") return { role: "tool", tool_call_id: m.toolCallId, content: text(m.content) };
	if (m.role === "user") return { role: "user", content: text(m.content) };
	const calls = m.content.filter((c: any) => c.type === "toolCall").map((c: any) => ({
		id: c.id, type: "function", function: { name: c.name, arguments: JSON.stringify(c.arguments) },
	}));
	const said = text(m.content.filter((c: any) => c.type === "text"));
	return { role: "assistant", content: said || null, tool_calls: calls.length ? calls : undefined };
}

// Has epitome, at the base URL of the model, make pi's compactions. Where it makes none, pi does.
export default function (pi: ExtensionAPI) {
	pi.on("session_before_compact", async ({ preparation: p, signal }, ctx) => {
		const old = p.previousSummary ? [{ role: "user", content: p.previousSummary }] : [];
		const messages = [...old, ...convertToLlm([...p.messagesToSummarize, ...p.turnPrefixMessages]).map(chat)];
		const answer = await fetch(new URL("/-/compact", ctx.model!.baseUrl), {
			method: "POST", signal, headers: { "content-type": "application/json" },
			body: JSON.stringify({ model: ctx.model!.id, messages }),
		});
		if (!answer.ok) return;
		const left = (await answer.json()).messages;
		const summary = left.map((m: any) => `${m.role}: ${m.content ?? JSON.stringify(m.tool_calls)}`).join("\n\n");
		return { compaction: { summary, firstKeptEntryId: p.firstKeptEntryId, tokensBefore: p.tokensBefore } };
	});
}
