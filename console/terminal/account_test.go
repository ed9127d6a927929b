package terminal

import (
	"strings"
	"testing"
	"time"

	"epitome/console/story"
	"epitome/event"
)

// An account says of each turn what was done and why nothing was, and of each message that is not sent whole in which
// turn that was decided. Nothing in it can meddle with a terminal.
func TestAccountsTellTurnsAndWhatIsNotSeen(t *testing.T) {
	turn := func(n int, shaping event.Shaping) event.Exchange {
		return event.Exchange{Seq: uint64(10 + n), Turn: n, Start: time.Now(), Shaping: shaping}
	}
	old := story.Edit{Item: 2, Last: 2, Rung: "offload", Reason: "It was long.", Before: 90, After: 9, Artifact: "first"}
	fresh := old
	fresh.New = true
	a := Account{
		Conversation: story.Story{
			Conversation: story.Conversation{ID: "c1", Model: "\x1b[2Jm\u202e", Upstream: "up", Turns: 3, Parent: "c0"},
			Forgotten:    1,
			Exchanges: []event.Exchange{
				turn(2, event.Shaping{Decided: true, Offloaded: 2, TakenOut: 81,
					Causes: event.CausesOf(event.CauseScreen)}),
				turn(3, event.Shaping{Code: event.CodeAgain}),
			},
		},
		Edits: story.Edits{Seq: 13, List: []story.Edit{old,
			{Item: 4, Last: 9, Rung: "compact", Reason: "It was old.", Thinking: "thought"}}},
		Decisions: []story.Edits{{Seq: 12, List: []story.Edit{fresh}}},
	}
	began := a.Conversation.Exchanges[0].Start
	a.Conversation.Exchanges[0].Compacted, a.Conversation.Exchanges[0].Duration = 3, time.Second
	a.Conversation.Compactions = []event.Compaction{{Kind: event.CompactionCompleted, Time: began, Why: "the model \x1b[2Jrefused."}}
	text := a.Text()
	for _, part := range []string{"Code wrote the summary: the model",
		"It has left conversation c0.", "1 earlier turns are not kept", "offloaded 2, compacted 3, 81 tokens out",
		event.CodeAgain.Sentence(), event.CauseScreen.Sentence(), "2        offload  90    9     2     first     It was long.", "4-9      compact"} {
		if !strings.Contains(text, part) {
			t.Errorf("it lacks %q:\n%s", part, text)
		}
	}
	if strings.ContainsAny(text, "\x1b\u202e") {
		t.Errorf("it has what a terminal obeys: %q", text)
	}
	a.Conversation.Exchanges[1].Mode, a.Conversation.Raw, a.Conversation.Tokens = event.ModeObserve, 90, 90
	a.Conversation.Exchanges[1].TokensAfter.Results = 60
	text = a.Text()
	for _, part := range []string{"was sent as it came, with 90 tokens", "In mode on, 60 would have been sent.",
		"The model sees all of the newest request. In mode on",
		"mode observe keeps none"} {
		if !strings.Contains(text, part) {
			t.Errorf("observed, it lacks %q:\n%s", part, text)
		}
	}
	if strings.Contains(text, "artifact NAME") || strings.Contains(text, "first") {
		t.Errorf("observed, it names artifacts:\n%s", text)
	}
	a.Conversation.Exchanges[1].Cleared = 6
	if text = a.Text(); !strings.Contains(text, "observed: would be sent with 60, cleared 6") {
		t.Error(text)
	}
	a.Conversation.Exchanges[1].Mode = event.ModeOn
	a.Edits = story.Edits{Missing: "it has expired"}
	if text := a.Text(); !strings.Contains(text, "cannot be told: it has expired.") {
		t.Error(text)
	}
	a.Edits = story.Edits{}
	if text := a.Text(); !strings.Contains(text, "The model sees all of the newest request.") {
		t.Error(text)
	}
}

// A turn in which nothing was taken out may have been added to, or have gone as it came since something failed.
func TestAccountsTellWhatWasAddedAndWhatFailed(t *testing.T) {
	f := func(e event.Exchange, want string) {
		t.Helper()
		if got := turnInCells(&e); !strings.HasSuffix(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	added := event.Exchange{Action: "add", Added: 70, Memory: 70}
	f(added, "\t70 tokens added: the memory of the project\t")
	added.Contexts = "docs"
	f(added, "\t70 tokens added: an index of context files, and the memory of the project\t")
	added.Memory = 0
	f(added, "\t70 tokens added: an index of context files\t")
	added.Offloaded, added.TakenOut = 1, 9
	f(added, "\toffloaded 1, 9 tokens out\t")
	failed := event.Exchange{Action: event.ActionBypass}
	failed.Inner, failed.Reason = "no space left", "r"
	f(failed, "\tbypass: something failed inside epitome\tno space left")
}
