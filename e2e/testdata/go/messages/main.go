// Package messages drives the official Anthropic SDK through everyday scenarios, or, asked for "session", through a
// session in which an agent asks again and again. It prints one line of JSON for each.
//
// It knows nothing of epitome: the SDK takes ANTHROPIC_BASE_URL and ANTHROPIC_API_KEY from the environment, so the same
// program runs against a provider and through the proxy.
package messages

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/anthropics/anthropic-sdk-go"

	"sdkgo/weather"
)

type line = weather.Line

// Play plays what is asked for.
func Play(kind string) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	client := anthropic.NewClient()
	as := func(name string, run func(context.Context, anthropic.Client) (line, error)) weather.Scenario {
		return weather.Scenario{Name: name, Run: func() (line, error) { return run(ctx, client) }}
	}
	scenarios := []weather.Scenario{as("chat", chat), as("stream", stream), as("tools", tools), as("retry", retry),
		as("refused", refused)}
	if kind == "session" {
		scenarios = []weather.Scenario{as("session", session(whole)), as("streamed", session(streamed))}
	}
	weather.Play(scenarios)
}

// ask is one request; the scripted provider chooses its answer by the user's words.
func ask(words string) anthropic.MessageNewParams {
	return anthropic.MessageNewParams{
		Model:     "claude-sonnet-4-5",
		MaxTokens: 4096,
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(
			words + " What is the weather in Zürich? <&> \u2028"))},
	}
}

// asker sends a request in one of the two ways.
type asker func(context.Context, anthropic.Client, anthropic.MessageNewParams) (*anthropic.Message, error)

func whole(ctx context.Context, client anthropic.Client, p anthropic.MessageNewParams) (*anthropic.Message, error) {
	return client.Messages.New(ctx, p)
}

func streamed(ctx context.Context, client anthropic.Client, p anthropic.MessageNewParams) (*anthropic.Message, error) {
	message, _, err := accumulate(ctx, client, p)
	return message, err
}

func accumulate(ctx context.Context, client anthropic.Client, p anthropic.MessageNewParams) (*anthropic.Message, []string, error) {
	events := client.Messages.NewStreaming(ctx, p)
	defer events.Close()
	var message anthropic.Message
	var kinds []string
	for events.Next() {
		event := events.Current()
		kinds = append(kinds, event.Type)
		if err := message.Accumulate(event); err != nil {
			return nil, nil, err
		}
	}
	return &message, kinds, events.Err()
}

func textOf(m *anthropic.Message) string {
	var all strings.Builder
	for _, b := range m.Content {
		all.WriteString(b.Text)
	}
	return all.String()
}

func chat(ctx context.Context, client anthropic.Client) (line, error) {
	answer, err := whole(ctx, client, ask("Chat."))
	if err != nil {
		return nil, err
	}
	return line{"text": textOf(answer), "input": answer.Usage.InputTokens, "output": answer.Usage.OutputTokens}, nil
}

func stream(ctx context.Context, client anthropic.Client) (line, error) {
	message, kinds, err := accumulate(ctx, client, ask("Stream."))
	if err != nil {
		return nil, err
	}
	return line{"kinds": kinds, "text": textOf(message)}, nil
}

// tools lets the model ask for a tool in a stream, answers the call and reads the closing text.
func tools(ctx context.Context, client anthropic.Client) (line, error) {
	params := ask("Tools.")
	params.Tools = tool()
	message, err := streamed(ctx, client, params)
	if err != nil {
		return nil, err
	}
	results, inputs := answerCalls(message, func(string) string { return "12 °C" })
	params.Messages = append(params.Messages, message.ToParam(), anthropic.NewUserMessage(results...))
	answer, err := whole(ctx, client, params)
	if err != nil {
		return nil, err
	}
	return line{"inputs": inputs, "text": textOf(answer)}, nil
}

func tool() []anthropic.ToolUnionParam {
	return []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{
		Name:        "get_weather",
		Description: anthropic.String("the weather of a city"),
		InputSchema: anthropic.ToolInputSchemaParam{Properties: line{"city": line{"type": "string"}}},
	}}}
}

// answerCalls are the results of a message's calls, and the cities that they ask for.
func answerCalls(m *anthropic.Message, say func(city string) string) (results []anthropic.ContentBlockParamUnion, cities []string) {
	for _, b := range m.Content {
		if b.Type != "tool_use" {
			continue
		}
		var input struct{ City string }
		_ = json.Unmarshal(b.Input, &input)
		cities = append(cities, input.City)
		results = append(results, anthropic.NewToolResultBlock(b.ID, say(input.City), false))
	}
	return results, cities
}

// retry meets a 529 first; sending again is the SDK's own doing.
func retry(ctx context.Context, client anthropic.Client) (line, error) {
	answer, err := whole(ctx, client, ask("Retry."))
	if err != nil {
		return nil, err
	}
	return line{"text": textOf(answer)}, nil
}

// refused reads a provider's error: status, words and the id in its response header.
func refused(ctx context.Context, client anthropic.Client) (line, error) {
	params := ask("")
	params.Messages = []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(""))}
	_, err := whole(ctx, client, params)
	var refusal *anthropic.Error
	if !errors.As(err, &refusal) {
		return nil, fmt.Errorf("got %v, want the provider's error", err)
	}
	return line{"status": refusal.StatusCode, "said": refusal.RawJSON(), "id": strings.HasPrefix(refusal.RequestID, "req_")}, nil
}

// session asks until the model calls no tool any more. Each call brings a page of some 20 KB.
func session(send asker) func(context.Context, anthropic.Client) (line, error) {
	return func(ctx context.Context, client anthropic.Client) (line, error) {
		params := ask("Session.")
		params.Tools = tool()
		params.System = []anthropic.TextBlockParam{{Text: "You watch the weather."}}
		for rounds := 1; ; rounds++ {
			message, err := send(ctx, client, params)
			if err != nil {
				return nil, fmt.Errorf("round %d: %w", rounds, err)
			}
			results, cities := answerCalls(message, func(city string) string { return weather.Page(city, 240) })
			if len(cities) == 0 {
				return line{"rounds": rounds, "text": textOf(message), "stop": message.StopReason}, nil
			}
			params.Messages = append(params.Messages, message.ToParam(), anthropic.NewUserMessage(results...))
		}
	}
}
