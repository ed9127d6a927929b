package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"epitome/console/story"
	"epitome/console/terminal"
)

type statusCmd struct {
	Line         bool   `help:"Print one line, and exit with status 0 whatever happens: for the status line of an agent. An agent that writes JSON with its session_id to the standard input gets that of its session."`
	Conversation string `placeholder:"ID" xor:"which" help:"Say it of this conversation. Default: the one used last."`
	Session      string `placeholder:"ID" xor:"which" help:"Say it of the conversation used last in the session that the agent calls so."`
	JSON         bool   `name:"json" help:"Print the answer of the API as it is."`
}

// Run prints what a running epitome says of a conversation.
func (k statusCmd) Run(c *cli) error {
	said, answer, err := k.ask(c)
	switch {
	case k.Line && errors.Is(err, story.ErrUnknown):
		_, _ = fmt.Println("epitome: no conversation yet")
		return nil
	case k.Line && err != nil:
		_, _ = fmt.Println("epitome: not running")
		return nil
	case k.Line:
		_, _ = fmt.Println(terminal.Line(said))
		return nil
	case errors.Is(err, story.ErrUnknown) && k.Conversation != "":
		return fmt.Errorf("cannot find the conversation %q: it never was, or it is not kept any more; "+
			"'epitome stats --by conversation' shows those that are", k.Conversation)
	case errors.Is(err, story.ErrUnknown):
		return errors.New("cannot show a conversation: there was none yet; requests through epitome make one")
	case err != nil:
		return err
	case k.JSON:
		_, err = os.Stdout.Write(answer)
		return err
	}
	_, err = os.Stdout.WriteString(terminal.Status(said))
	return err
}

func (k statusCmd) ask(c *cli) (said story.Status, answer []byte, err error) {
	running, err := c.running("say how a conversation stands")
	if err != nil {
		return said, nil, err
	}
	of := story.Which{ID: k.Conversation, Session: k.Session}
	if k.Line && of == (story.Which{}) {
		of.Session = sessionIn(os.Stdin, 300*time.Millisecond)
	}
	return asking(running[0]).Status(of)
}

// sessionIn is what an agent calls its session: session_id in the JSON that it writes to the standard input of the
// command for its status line, all at once. It is empty where nothing of the kind comes within wait.
func sessionIn(in *os.File, wait time.Duration) string {
	if isTerminal(in) { // or the null device
		return ""
	}
	read := make(chan string, 1)
	go func() {
		var said struct {
			Session string `json:"session_id"`
		}
		_ = json.NewDecoder(io.LimitReader(in, 1<<20)).Decode(&said)
		read <- said.Session
	}()
	select {
	case session := <-read:
		return session
	case <-time.After(wait):
		return ""
	}
}
