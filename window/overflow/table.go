package overflow

import (
	"strings"

	"epitome/pattern"
	"epitome/pattern/lazy"
)

// meaning is what words in an answer tell.
type meaning int

// The meanings. First those of size.
const (
	capacity     meaning = iota // a window, or what fills it
	firm                        // a window that cannot be anything else
	excess                      // something is larger than something
	narrow                      // a window is too small
	long                        // what stands before is too long; in a group: if a length stands behind
	length                      // a length
	quantity                    // a request is too long, or a client asks for too much at a time
	noun                        // what can be called too long; in a group: the conversation and its parts
	conversation                // the conversation and its parts
	token                       // tokens
	advice                      // the client is asked for a shorter conversation
	input                       // it is about what is sent
	output                      // it is about what is answered
	outputAlone                 // it is certainly about that
	negative                    // what is left for the answer is less than nothing
	estimate                    // the provider has not counted
	foreign                     // an excess, in Chinese
	bulk                        // a size in bytes
	bulkOwner                   // what can have too many bytes
	characters                  // a size in characters
	longText                    // a single text is too long

	// What no shorter request cures. The first three hold whatever else an answer says: what asks for money or other
	// credentials may speak of tokens, too. The next three hold once it is clear that no rate is meant.
	credentials // who asks is not known
	money       // it costs more than there is
	content     // it is about what is said
	field       // it is about a field of the request
	unparsed    // the request cannot be parsed
	lateness    // it took too long
	account     // it is about someone's share rather than about a request, unless input or window are named too
	patience    // the client is to come again
	below       // something is below its least size
	structure   // the conversation does not hold together
	bond        // what the model thought belongs to another conversation
	media       // it is about pictures and the like, which have limits of their own
	mixed       // it is about a request that has texts too, or about its window

	rate   // it is about how much is sent at a time
	single // the request by itself is too large for that
	spent  // it is about tokens of other requests

	meanings // how many there are
)

// row is one kind of words, and who was seen to say so.
type row struct {
	means meaning
	words string // a regular expression over a wording
	who   string // a provider or a server; nobody for words that were made up beside those of others
	said  string // a sentence that the row stands for: of a provider as it was received, else made up
}

// nobody has said it so far, as far as is known here.
const nobody = ""

// thing is what can be too long.
const thing = `(?:prompts?|inputs?|contexts?|messages?|conversations?|chats?|dialogu?es?|histor(?:y|ies)|sequences?|quer(?:y|ies)|texts?|requests?|contents?|transcripts?)`

// superlative begins the name of a limit.
const superlative = `(?:maximum|max|largest|longest|biggest|highest)`

// tooSmall are the words for a window that is too small.
const tooSmall = `\b(?:context|ctx|windows?|len)(?: (?:size|length|window|is|was|of|#|tokens?))* too (?:small|short)\b`

// wordings have one regular expression for each meaning, of all its rows in their order.
var wordings = lazy.Of(newWordings)

func newWordings() (all [meanings]*pattern.Pattern) {
	var words [meanings][]string
	for _, r := range table {
		words[r.means] = append(words[r.means], r.words)
	}
	for m, exprs := range words {
		all[m] = pattern.Of(strings.Join(exprs, "|"))
	}
	return all
}

// words is what finds the meaning.
func (m meaning) words() *pattern.Pattern { return wordings.Get()[m] }

// in reports whether a wording has the meaning.
func (m meaning) in(wording string) bool { return m.words().MatchString(wording) }

// denial is a kind of refusals that no shorter request cures.
type denial struct {
	means meaning
	why   string
}

// accountDenials hold whatever else an answer says, fieldDenials once it is clear that no rate is meant.
var (
	accountDenials = [...]denial{
		{credentials, "it is about credentials"},
		{money, "it is about money"},
		{content, "it is about what is said"},
	}
	fieldDenials = [...]denial{
		{field, "it is about a field of the request"},
		{unparsed, "the request cannot be parsed"},
		{lateness, "it took too long"},
	}
)
