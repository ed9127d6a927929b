package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"epitome/cli/explanation"
	"epitome/cli/trial"
	"epitome/config"
)

type explainCmd struct {
	File string `arg:"" optional:"" placeholder:"FILE" help:"A request of Chat Completions, Anthropic Messages or OpenAI Responses, as a file of JSON. - is the standard input. The id of a conversation is as good as --conversation; the number of an exchange, as pages show it, tells its conversation."`

	Conversation string `placeholder:"ID" help:"Tell what a running epitome has done to the conversation with this id: turn by turn, and what the model does not see now."`

	Dialect string `placeholder:"NAME" enum:",chat,messages,responses" default:"" help:"Read it as chat (Chat Completions), messages (Anthropic Messages) or responses (OpenAI Responses). Default: as its tools, results and settings show."`
	Window  string `placeholder:"TOKENS" help:"Assume that the model holds this many tokens, as 32k or 200000."`
	Preset  string `placeholder:"NAME" help:"Preset to use. Default: the configured one."`
	Turns   bool   `help:"Play the request as a conversation: turn by turn, as its client would have sent it, beginning with nothing known."`
	JSON    bool   `xor:"output" help:"Print the report as JSON."`
	Body    bool   `xor:"output" help:"Print the request as epitome would send it, instead of a report."`
}

// Run needs neither a running epitome nor a key, and writes nothing but its report.
func (k explainCmd) Run(c *cli) error {
	if id := k.conversation(); id != "" {
		return k.explainStory(c, id)
	}
	if k.isExchange() {
		return k.explainExchange(c)
	}
	if k.File == "" {
		return errors.New("cannot explain nothing: give the file of a request, or --conversation with the id of one that runs")
	}
	conf, err := c.load()
	if err != nil {
		return err
	}
	if k.Preset != "" {
		if err := conf.Rewrite.SetPreset(k.Preset); err != nil {
			return fmt.Errorf("cannot use preset %q: %w", k.Preset, err)
		}
	}
	body, err := k.read()
	if err != nil {
		return err
	}
	folder, err := conf.DataFolder()
	if err != nil {
		return err
	}
	t, err := trial.New(conf, body, trial.Given{Dialect: k.Dialect, Window: k.Window, Upstream: c.Upstream})
	if err != nil {
		return err
	}
	defer t.Close()
	explain := t.Explain
	if k.Turns {
		explain = t.Play
	}
	r, err := explain(folder)
	if err != nil {
		return err
	}
	if err := k.print(r); err != nil || r.Messages > 0 || k.Body {
		return err
	}
	return fmt.Errorf("cannot explain %s: %s; give a request of Chat Completions, Messages or Responses with at most "+
		"50 000 items", k.File, r.Reason)
}

func (k explainCmd) print(r *explanation.Report) error {
	switch {
	case k.Body:
		_, err := os.Stdout.Write(r.Body)
		return err
	case k.JSON:
		return r.JSON(os.Stdout)
	}
	return r.Print(os.Stdout, isTerminal(os.Stdout))
}

func (k explainCmd) read() (body []byte, err error) {
	if k.File == "-" {
		body, err = io.ReadAll(os.Stdin)
	} else {
		body, err = os.ReadFile(k.File)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot read the request %s: there is no such file; give the file of a request, the id of a "+
			"conversation, or the number of an exchange as pages show it", k.File)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the request %s: %w", k.File, config.PathCause(err))
	}
	if err := json.Unmarshal(body, &json.RawMessage{}); err != nil {
		return nil, fmt.Errorf("cannot explain %s: it is not JSON: %w", k.File, err)
	}
	return body, nil
}
