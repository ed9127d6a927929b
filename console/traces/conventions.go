package traces

import (
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"

	"epitome/event"
)

// Names of OpenTelemetry's conventions for generative AI (repository semantic-conventions-genai, as of November 2026;
// all of them are in development there), and epitome's own, which begin with its name.
const (
	operationName    = "gen_ai.operation.name"
	providerName     = "gen_ai.provider.name"
	requestModel     = "gen_ai.request.model"
	requestStream    = "gen_ai.request.stream"
	firstChunk       = "gen_ai.response.time_to_first_chunk" // seconds
	inputTokens      = "gen_ai.usage.input_tokens"           // with those of the cache
	outputTokens     = "gen_ai.usage.output_tokens"
	cacheReadTokens  = "gen_ai.usage.cache_read.input_tokens"
	cacheWriteTokens = "gen_ai.usage.cache_write.input_tokens"
	reasoningTokens  = "gen_ai.usage.reasoning.output_tokens"
	conversationID   = "gen_ai.conversation.id"
	compacted        = "gen_ai.conversation.compacted"
	errorType        = "error.type"
	serverAddress    = "server.address"
	statusCode       = "http.response.status_code"

	ownAction = "epitome.action"
	ownMode   = "epitome.mode"
	ownBefore = "epitome.tokens.before"
	ownAfter  = "epitome.tokens.after"
	ownReason = "epitome.reason"
	ownCauses = "epitome.causes"
)

// operation is what all these requests are.
const operation = "chat"

// providers are the names of the conventions, by what hosts end in.
func providers() [][2]string {
	return [][2]string{
		{"openai.azure.com", "azure.ai.openai"}, {"openai.com", "openai"}, {"anthropic.com", "anthropic"},
		{"deepseek.com", "deepseek"}, {"x.ai", "x_ai"}, {"mistral.ai", "mistral_ai"}, {"groq.com", "groq"},
		{"perplexity.ai", "perplexity"}, {"cohere.com", "cohere"}, {"googleapis.com", "gcp.gemini"},
	}
}

// providerAt returns who is behind a host, to the best of what is known: one that is not is called as the upstream is.
func providerAt(host, upstream string) string {
	for _, p := range providers() {
		if host == p[0] || strings.HasSuffix(host, "."+p[0]) {
			return p[1]
		}
	}
	return upstream
}

// attributesOf are what a span says of an exchange with a host.
func attributesOf(e *event.Exchange, host string) []attribute.KeyValue {
	all := []attribute.KeyValue{
		attribute.String(operationName, operation), attribute.String(providerName, providerAt(host, e.Upstream)),
		attribute.String(requestModel, e.Model), attribute.Bool(requestStream, e.Streams),
		attribute.String(serverAddress, host), attribute.String(ownAction, e.Action), attribute.String(ownMode, e.Mode),
		attribute.Int(ownBefore, e.TokensBefore.Total()), attribute.Int(ownAfter, e.TokensAfter.Total()),
	}
	if e.Conversation != "" {
		all = append(all, attribute.String(conversationID, e.Conversation))
	}
	if e.Compacted > 0 && e.Mode == event.ModeOn {
		all = append(all, attribute.Bool(compacted, true))
	}
	if e.Reason != "" {
		all = append(all, attribute.String(ownReason, e.Reason))
	}
	if e.Causes != 0 {
		all = append(all, attribute.String(ownCauses, e.Causes.String()))
	}
	if e.Status > 0 {
		all = append(all, attribute.Int(statusCode, e.Status))
	}
	if e.FirstByte > 0 {
		all = append(all, attribute.Float64(firstChunk, e.FirstByte.Seconds()))
	}
	if failed := failureOf(e); failed != "" {
		all = append(all, attribute.String(errorType, failed))
	}
	return append(all, usageOf(&e.Usage)...)
}

// usageOf is what the answer tells of its tokens; what it does not tell is left out, as is a part of its output.
func usageOf(u *event.Usage) []attribute.KeyValue {
	if u.Source != event.UsageProvider || u.Odd {
		return nil
	}
	all := []attribute.KeyValue{attribute.Int(inputTokens, u.Input)}
	if !u.CacheUnknown {
		all = append(all, attribute.Int(cacheReadTokens, u.Read), attribute.Int(cacheWriteTokens, u.Write5m+u.Write1h))
	}
	if u.Cut {
		return all
	}
	all = append(all, attribute.Int(outputTokens, u.Output))
	if u.Reasoning > 0 {
		all = append(all, attribute.Int(reasoningTokens, u.Reasoning))
	}
	return all
}

// failureOf is why the client did not get the whole of a good answer; empty if it did.
func failureOf(e *event.Exchange) string {
	switch {
	case e.Fault != event.None:
		return string(e.Fault)
	case e.Status >= 400:
		return strconv.Itoa(e.Status)
	}
	return ""
}
