package frame

import (
	"strconv"

	"epitome/console/markup"
)

// ToConversation is where a conversation is shown.
func ToConversation(id string) markup.Address { return markup.At("conversations", id) }

// ToExchange is where an exchange is shown.
func ToExchange(seq uint64) markup.Address { return markup.At("exchanges", number(seq)) }

// ToTroubles is where all exchanges are listed that went wrong lately.
func ToTroubles() markup.Address { return markup.At("troubles") }

// ToEdit is where a message of an exchange is shown that was sent in another form.
func ToEdit(seq uint64, item int) markup.Address {
	return markup.At("exchanges", number(seq), "edits", strconv.Itoa(item))
}

// ToContent is what was taken out of a conversation, as it is.
func ToContent(name string) markup.Address { return markup.At("artifacts", name) }

// ToArtifact is where the same is shown; seq is of the exchange that one comes from, 0 if that is not known.
func ToArtifact(name string, seq uint64) markup.Address {
	to := markup.At("artifacts", name, "view")
	if seq == 0 {
		return to
	}
	return to.With("seq", number(seq))
}

func number(n uint64) string { return strconv.FormatUint(n, 10) }
