// Command sdkgo drives the official OpenAI SDK through its everyday scenarios, and, with the name of another API, the SDK
// of that one, by the kind of scenarios that stands behind it. It prints one line of JSON for each.
//
// It knows nothing of epitome: the SDK takes OPENAI_BASE_URL and OPENAI_API_KEY
// from the environment, so the same program runs against a provider and through the proxy.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/shared"

	"sdkgo/messages"
	"sdkgo/responses"
)

func main() {
	switch args := append(os.Args[1:], "", ""); args[0] {
	case "messages":
		messages.Play(args[1])
	case "responses":
		responses.Play(args[1])
	default:
		play()
	}
}

func play() {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	client := openai.NewClient()
	for _, scenario := range []struct {
		name string
		run  func(context.Context, openai.Client) (map[string]any, error)
	}{
		{"chat", chat}, {"stream", stream}, {"tools", tools}, {"retry", retry}, {"refused", refused},
	} {
		line, err := scenario.run(ctx, client)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", scenario.name, err)
			os.Exit(1)
		}
		line["ok"] = scenario.name
		text, _ := json.Marshal(line)
		fmt.Println(string(text))
	}
}

// ask is one request; the fake provider chooses its answer by the model's name.
func ask(model string) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model:    model,
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("What is the weather in Zürich? <&> \u2028")},
	}
}

func chat(ctx context.Context, client openai.Client) (map[string]any, error) {
	answer, err := client.Chat.Completions.New(ctx, ask("chat"))
	if err != nil {
		return nil, err
	}
	return map[string]any{"text": answer.Choices[0].Message.Content, "tokens": answer.Usage.TotalTokens}, nil
}

func stream(ctx context.Context, client openai.Client) (map[string]any, error) {
	params := ask("stream")
	params.StreamOptions = openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)}
	events := client.Chat.Completions.NewStreaming(ctx, params)
	defer events.Close()
	var whole openai.ChatCompletionAccumulator
	chunks := 0
	for events.Next() {
		chunks++
		whole.AddChunk(events.Current())
	}
	if err := events.Err(); err != nil {
		return nil, err
	}
	return map[string]any{"chunks": chunks, "text": whole.Choices[0].Message.Content,
		"tokens": whole.Usage.TotalTokens}, nil
}

// tools lets the model ask for a tool in a stream, answers the call and reads the closing text.
func tools(ctx context.Context, client openai.Client) (map[string]any, error) {
	params := ask("tools")
	params.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
		Name: "get_weather",
		Parameters: shared.FunctionParameters{
			"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}},
		},
	})}
	events := client.Chat.Completions.NewStreaming(ctx, params)
	defer events.Close()
	var whole openai.ChatCompletionAccumulator
	for events.Next() {
		whole.AddChunk(events.Current())
	}
	if err := events.Err(); err != nil {
		return nil, err
	}
	message := whole.Choices[0].Message
	call := message.ToolCalls[0]
	var arguments map[string]any
	if err := json.Unmarshal([]byte(call.Function.Arguments), &arguments); err != nil {
		return nil, err
	}
	params.Messages = append(params.Messages, message.ToParam(), openai.ToolMessage("12 °C", call.ID))
	answer, err := client.Chat.Completions.New(ctx, params)
	if err != nil {
		return nil, err
	}
	return map[string]any{"tool": call.Function.Name, "arguments": arguments,
		"text": answer.Choices[0].Message.Content}, nil
}

// retry meets a 429 first; sending again is the SDK's own doing.
func retry(ctx context.Context, client openai.Client) (map[string]any, error) {
	answer, err := client.Chat.Completions.New(ctx, ask("retry"))
	if err != nil {
		return nil, err
	}
	return map[string]any{"text": answer.Choices[0].Message.Content}, nil
}

// refused reads a provider's error: status, code and the id in its response header.
func refused(ctx context.Context, client openai.Client) (map[string]any, error) {
	_, err := client.Chat.Completions.New(ctx, ask("refused"))
	var refusal *openai.Error
	if !errors.As(err, &refusal) {
		return nil, fmt.Errorf("got %v, want the provider's error", err)
	}
	return map[string]any{
		"status": refusal.StatusCode, "code": refusal.Code, "message": refusal.Message,
		"id": refusal.Response.Header.Get("X-Request-Id"),
	}, nil
}
