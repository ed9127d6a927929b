package event

import (
	"cmp"
	"fmt"
	"time"
)

// Sums are the sums of some exchanges. Amounts are in nano-dollars.
type Sums struct {
	Exchanges    int64 `json:"exchanges"`
	Failed       int64 `json:"failed"`        // status 400 and more, cut off, or with an error
	Rescued      int64 `json:"rescued"`       // refused as too long, then answered
	Shaped       int64 `json:"shaped"`        // conversations, in mode on
	TokensBefore int64 `json:"tokens_before"` // of the shaped ones, before and as sent
	TokensAfter  int64 `json:"tokens_after"`
	TakenOut     int64 `json:"taken_out"` // tokens, each item counted once
	Offloaded    int64 `json:"offloaded"` // items newly changed
	Cleared      int64 `json:"cleared"`
	Compacted    int64 `json:"compacted"`
	// Observed is of conversations in mode observe. They were sent as they came and billed, so Exchanges, Failed, Usage,
	// Misses, Hits and bills count them too; counts of shaping, Raw and Sent do not.
	Observed Seen `json:"observed"`

	Usage UsageSums `json:"usage"`
	Money Money     `json:"money"`

	Misses counts[Miss] `json:"misses,omitempty"` // by cause; hits are not among them
	Hits   int64        `json:"hits"`
	Codes  counts[Code] `json:"codes,omitempty"` // why nothing, or not everything, was done
}

// Seen tells what would have been done in mode observe.
type Seen struct {
	Exchanges    int64 `json:"exchanges"`
	TokensBefore int64 `json:"tokens_before"`
	TokensAfter  int64 `json:"tokens_after"`
}

// UsageSums are tokens as providers reported them, or as epitome counted them where providers did not.
type UsageSums struct {
	Told    int64 `json:"told"`    // exchanges with reported tokens
	Counted int64 `json:"counted"` // exchanges with counted ones
	Input   int64 `json:"input"`   // with Read and Write
	Read    int64 `json:"read"`
	Write   int64 `json:"write"`
	Output  int64 `json:"output"`
	// CacheInput is the part of Input of answers that report cached tokens. Of the rest, cached tokens are unknown.
	CacheInput int64 `json:"cache_input"`
	// Cut counts answers that were cut off: Output has what they had reported until then.
	Cut int64 `json:"cut"`
}

// CacheUntold returns the input of answers that do not report cached tokens.
func (u UsageSums) CacheUntold() int64 { return u.Input - u.CacheInput }

// Money sums up costs. Saved is Raw - Sent - Own: it may be negative.
type Money struct {
	Billed   int64 `json:"billed_nano"` // measured, of the exchanges whose usage and price are known
	Ruled    int64 `json:"ruled"`       // exchanges that Raw and Sent are of
	Raw      int64 `json:"raw_nano"`    // by the ruler, as they came
	Sent     int64 `json:"sent_nano"`   // by the ruler, as they were sent
	Own      int64 `json:"own_nano"`    // of requests for summaries
	Saved    int64 `json:"saved_nano"`
	Measured int64 `json:"measured"` // exchanges that Billed is of
	AtLeast  int64 `json:"at_least"` // of those, exchanges that may have cost more
	Listed   int64 `json:"listed"`   // of those, exchanges by subscription: their amounts are what list prices would be
	Unpriced int64 `json:"unpriced"` // exchanges of conversations that lack an amount
	Beyond   int64 `json:"beyond"`   // requests that would have been refused as they came
	Died     int64 `json:"died"`     // conversations that had such a request
}

// Span selects the exchanges of a Summary.
type Span struct {
	From, To time.Time // zero: the beginning, and now
	By       string    // of the rows: day, model, upstream or client; empty: day
}

// Report is what became of all exchanges of some time.
type Report struct {
	Version string      `json:"version"` // set by the console, like Mode
	Mode    string      `json:"mode"`
	Now     time.Time   `json:"now"`
	From    time.Time   `json:"from"`
	To      time.Time   `json:"to"`
	Since   time.Time   `json:"since"` // from when on anything is known
	By      string      `json:"by"`    // as in Span
	Live    int         `json:"live"`  // conversations with an exchange in the last ten minutes
	Total   Sums        `json:"total"`
	Rows    []Row       `json:"rows"`
	Prices  PriceSource `json:"prices"`
	Notes   []string    `json:"notes,omitempty"` // what a reader should know: a log that was damaged, events that were dropped
}

// Row is a part of a Summary.
type Row struct {
	Key  string `json:"key"`
	Sums Sums   `json:"sums"`
}

// PriceSource is where amounts come from.
type PriceSource struct {
	Source string    `json:"source"`
	Date   time.Time `json:"date"`
	Old    bool      `json:"old"` // more than ninety days
}

// Conversation is a line of requests that extend one another.
type Conversation struct {
	ID       string    `json:"id"`
	Title    string    `json:"title,omitempty"` // words of the user: whoever shows it asks for the owner first
	Parent   string    `json:"parent,omitempty"`
	Client   string    `json:"client,omitempty"`  // whose key its newest request came with; empty without keys
	Session  string    `json:"session,omitempty"` // of the client, as events name it
	Model    string    `json:"model"`
	Upstream string    `json:"upstream"`
	Dialect  string    `json:"dialect"`
	First    time.Time `json:"first"`
	Last     time.Time `json:"last"`
	Live     bool      `json:"live"`
	Turns    int       `json:"turns"`  // exchanges, with those that are not kept any more
	Tokens   int       `json:"tokens"` // of the newest request, as it was sent
	Raw      int       `json:"raw"`    // and as it came
	Window   int       `json:"window"`
	Share    float64   `json:"share"`            // Tokens of Window
	Cached   float64   `json:"cached"`           // share of the input that the provider's cache had, of exchanges that tell; -1: none does
	Latest   string    `json:"latest,omitempty"` // the newest decision, such as "clear 11 items, 25.9k tokens"
	Sums     Sums      `json:"sums"`
}

// Observed reports whether all requests of the conversation were sent as they came, as mode observe has it.
func (c Conversation) Observed() bool {
	return c.Sums.Observed.Exchanges > 0 && c.Sums.Observed.Exchanges == c.Sums.Exchanges
}

// Story is a conversation with its turns, the oldest first.
type Story struct {
	Conversation
	Exchanges []Exchange `json:"exchanges"`
	Forgotten int        `json:"forgotten"` // earlier turns that are not kept any more
}

// Page is a part of a list.
type Page[T any] struct {
	Items []T `json:"items"`
	Next  int `json:"next,omitempty"` // the number of items before the next page; 0: there is none
	Total int `json:"total"`          // of all pages
}

// Status is what a status line shows of a conversation.
type Status struct {
	ID     string    `json:"conversation"`
	Model  string    `json:"model"`
	Tokens int       `json:"tokens"`
	Window int       `json:"window"`
	Share  float64   `json:"share"`
	Cached float64   `json:"cached"`
	Saved  *float64  `json:"saved_usd"` // null if no price is known
	Last   string    `json:"last,omitempty"`
	AsOf   time.Time `json:"as_of"`
}

// Edit is in what form an item is sent that is not sent whole. It is read from the recorded decision when one asks.
type Edit struct {
	Item     int    `json:"item"` // index in the request's messages, from 0
	Last     int    `json:"last"` // of several messages that it stands for, the index of the last one; else Item
	Rung     string `json:"rung"` // offload, clear or compact
	Code     Code   `json:"code"` // why
	Reason   string `json:"reason"`
	New      bool   `json:"new"`    // decided in this exchange
	Before   int    `json:"before"` // tokens as it came; 0 if not recorded
	After    int    `json:"after"`
	Text     string `json:"text"`               // what is sent in its place
	Artifact string `json:"artifact,omitempty"` // name of what stood there
	Readable string `json:"readable,omitempty"` // the same for a reader of lines
	// name of the item as it came, if what was thought in it is not sent
	Thinking string `json:"thinking,omitempty"`
}

// Messages says which messages of the request the edit is about. They count from 0, as in the texts for the model.
func (e Edit) Messages() string {
	if e.Last > e.Item {
		return fmt.Sprintf("messages %d–%d", e.Item, e.Last)
	}
	return fmt.Sprintf("message %d", e.Item)
}

// Name returns the name of the artifact that has the text of the messages; empty if none was kept.
func (e Edit) Name() string { return cmp.Or(e.Readable, e.Artifact, e.Thinking) }

// Edits are all edits of a request.
type Edits struct {
	Turn    int    `json:"turn"`
	List    []Edit `json:"edits"`
	Missing string `json:"missing,omitempty"` // why there are none to read: expired, or the store was lost
}
