// Package responses drives the official OpenAI SDK through everyday scenarios of Responses, or, asked for "session" or
// "provided", through sessions in which an agent asks again and again: those that it keeps itself, or one that lies with
// the provider. It prints one line of JSON for each.
//
// It knows nothing of epitome: the SDK takes OPENAI_BASE_URL and OPENAI_API_KEY from the environment, so the same program
// runs against a provider and through the proxy.
package responses

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"

	"sdkgo/weather"
)

type line = weather.Line

// Play plays what is asked for.
func Play(kind string) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	client := openai.NewClient()
	as := func(name string, run func(context.Context, openai.Client) (line, error)) weather.Scenario {
		return weather.Scenario{Name: name, Run: func() (line, error) { return run(ctx, client) }}
	}
	switch kind {
	case "session":
		weather.Play([]weather.Scenario{as("session", session(whole)), as("streamed", session(streamed))})
	case "provided":
		weather.Play([]weather.Scenario{as("provided", provided)})
	default:
		weather.Play([]weather.Scenario{as("chat", chat), as("stream", stream), as("tools", tools), as("kept", kept),
			as("retry", retry), as("refused", refused)})
	}
}

// ask is one request; the scripted provider chooses its answer by the user's words.
func ask(words string) responses.ResponseNewParams {
	return responses.ResponseNewParams{
		Model: "gpt-5.5",
		Input: items(responses.ResponseInputItemParamOfMessage(words+" What is the weather in Zürich? <&> \u2028",
			responses.EasyInputMessageRoleUser)),
	}
}

func items(all ...responses.ResponseInputItemUnionParam) responses.ResponseNewParamsInputUnion {
	return responses.ResponseNewParamsInputUnion{OfInputItemList: all}
}

// stateless is what an agent sends that keeps its conversation itself.
func stateless(words string) responses.ResponseNewParams {
	p := ask(words)
	p.Store = openai.Bool(false)
	p.Include = []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent}
	p.Tools = tool()
	return p
}

func tool() []responses.ToolUnionParam {
	return []responses.ToolUnionParam{{OfFunction: &responses.FunctionToolParam{
		Name:        "get_weather",
		Description: openai.String("the weather of a city"),
		Parameters:  line{"type": "object", "properties": line{"city": line{"type": "string"}}},
	}}}
}

// asker sends a request in one of the two ways.
type asker func(context.Context, openai.Client, responses.ResponseNewParams) (*responses.Response, error)

func whole(ctx context.Context, client openai.Client, p responses.ResponseNewParams) (*responses.Response, error) {
	return client.Responses.New(ctx, p)
}

func streamed(ctx context.Context, client openai.Client, p responses.ResponseNewParams) (*responses.Response, error) {
	answer, _, err := read(ctx, client, p)
	return answer, err
}

// read reads a stream to its end.
func read(ctx context.Context, client openai.Client, p responses.ResponseNewParams) (answer *responses.Response, kinds []string, err error) {
	events := client.Responses.NewStreaming(ctx, p)
	defer events.Close()
	for events.Next() {
		event := events.Current()
		kinds = append(kinds, event.Type)
		if event.Type == "response.completed" {
			answer = &event.Response
		}
	}
	if answer == nil && events.Err() == nil {
		return nil, kinds, fmt.Errorf("the stream ended without an answer: %v", kinds)
	}
	return answer, kinds, events.Err()
}

func chat(ctx context.Context, client openai.Client) (line, error) {
	answer, err := whole(ctx, client, ask("Chat."))
	if err != nil {
		return nil, err
	}
	return line{"text": answer.OutputText(), "input": answer.Usage.InputTokens, "output": answer.Usage.OutputTokens}, nil
}

func stream(ctx context.Context, client openai.Client) (line, error) {
	answer, kinds, err := read(ctx, client, ask("Stream."))
	if err != nil {
		return nil, err
	}
	return line{"kinds": kinds, "text": answer.OutputText()}, nil
}

// tools lets the model ask for a tool in a stream, answers the call and reads the closing text.
func tools(ctx context.Context, client openai.Client) (line, error) {
	params := stateless("Tools.")
	first, err := streamed(ctx, client, params)
	if err != nil {
		return nil, err
	}
	outputs, inputs := answerCalls(first, func(string) string { return "12 °C" })
	params.Input.OfInputItemList = append(append(params.Input.OfInputItemList, said(first)...), outputs...)
	answer, err := whole(ctx, client, params)
	if err != nil {
		return nil, err
	}
	return line{"inputs": inputs, "text": answer.OutputText()}, nil
}

// kept is the same with a conversation that the provider keeps.
func kept(ctx context.Context, client openai.Client) (line, error) {
	params := ask("Tools.")
	params.Tools = tool()
	first, err := whole(ctx, client, params)
	if err != nil {
		return nil, err
	}
	outputs, _ := answerCalls(first, func(string) string { return "12 °C" })
	params.Input, params.PreviousResponseID = items(outputs...), openai.String(first.ID)
	answer, err := whole(ctx, client, params)
	if err != nil {
		return nil, err
	}
	return line{"text": answer.OutputText(), "previous": answer.PreviousResponseID == first.ID}, nil
}

// said is what the model said, as its next request has it.
func said(r *responses.Response) []responses.ResponseInputItemUnionParam {
	var all []responses.ResponseInputItemUnionParam
	for _, item := range r.Output {
		all = append(all, param.Override[responses.ResponseInputItemUnionParam](json.RawMessage(item.RawJSON())))
	}
	return all
}

// answerCalls are the outputs of a response's calls, and the cities that they ask for.
func answerCalls(r *responses.Response, say func(city string) string) (outputs []responses.ResponseInputItemUnionParam, cities []string) {
	for _, item := range r.Output {
		if item.Type != "function_call" {
			continue
		}
		call := item.AsFunctionCall()
		var input struct{ City string }
		_ = json.Unmarshal([]byte(call.Arguments), &input)
		cities = append(cities, input.City)
		outputs = append(outputs, responses.ResponseInputItemUnionParam{
			OfFunctionCallOutput: &responses.ResponseInputItemFunctionCallOutputParam{
				CallID: openai.String(call.CallID),
				Output: responses.ResponseInputItemFunctionCallOutputOutputUnionParam{OfString: openai.String(say(input.City))},
			}})
	}
	return outputs, cities
}

// retry meets a 503 first; sending again is the SDK's own doing.
func retry(ctx context.Context, client openai.Client) (line, error) {
	answer, err := whole(ctx, client, ask("Retry."))
	if err != nil {
		return nil, err
	}
	return line{"text": answer.OutputText()}, nil
}

// refused reads a provider's error: status, words and the id in its response header.
func refused(ctx context.Context, client openai.Client) (line, error) {
	params := ask("")
	params.Input = items(responses.ResponseInputItemParamOfMessage("x", "tool"))
	_, err := whole(ctx, client, params)
	var refusal *openai.Error
	if !errors.As(err, &refusal) {
		return nil, fmt.Errorf("got %v, want the provider's error", err)
	}
	return line{"status": refusal.StatusCode, "code": refusal.Code, "said": refusal.Message,
		"id": strings.HasPrefix(refusal.Response.Header.Get("x-request-id"), "req_")}, nil
}

// session asks until the model calls no tool any more. Each call brings a page of some 20 KB.
func session(send asker) func(context.Context, openai.Client) (line, error) {
	return func(ctx context.Context, client openai.Client) (line, error) {
		params := stateless("Session.")
		params.Instructions = openai.String("You watch the weather.")
		for rounds := 1; ; rounds++ {
			answer, err := send(ctx, client, params)
			if err != nil {
				return nil, fmt.Errorf("round %d: %w", rounds, err)
			}
			outputs, cities := answerCalls(answer, func(city string) string { return weather.Page(city, 240) })
			if len(cities) == 0 {
				return line{"rounds": rounds, "text": answer.OutputText(), "status": answer.Status}, nil
			}
			params.Input.OfInputItemList = append(append(params.Input.OfInputItemList, said(answer)...), outputs...)
		}
	}
}

// provided lies with the provider: only what is new is sent. Each call brings a page of some 60 KB.
func provided(ctx context.Context, client openai.Client) (line, error) {
	params := ask("Provided.")
	params.Tools, params.Instructions = tool(), openai.String("You watch the weather.")
	for rounds := 1; ; rounds++ {
		answer, err := whole(ctx, client, params)
		if err != nil {
			return nil, fmt.Errorf("round %d: %w", rounds, err)
		}
		outputs, cities := answerCalls(answer, func(city string) string { return weather.Page(city, 720) })
		if len(cities) == 0 {
			return line{"rounds": rounds, "text": answer.OutputText()}, nil
		}
		params.Input, params.PreviousResponseID = items(outputs...), openai.String(answer.ID)
	}
}
