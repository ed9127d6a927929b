package conversation

import (
	"errors"
	"fmt"

	"epitome/rewrite/span"
)

// setting takes what stands under a key beside the items.
type setting func(r *Request, key []byte, v span.Span) error

// mostItems is how many items a request has that is read: with each one there is to do, however short it is. A list of
// one form for each still fits into the store.
const mostItems = 50_000

// CheckRoom is an error if a request has as many items as are read.
func CheckRoom(r *Request) error {
	if len(r.Items) > mostItems {
		return fmt.Errorf("the request has more than %d items", mostItems)
	}
	return nil
}

// ReadBody reads the one object that the body of r is: what stands under the key list by items, and all else by beside.
// Without that key it is an error.
func ReadBody(r *Request, list string, items func(i int) (end int, err error), beside setting) error {
	found := false
	err := span.Document(r.Body, func(key []byte, i int) (int, error) {
		if string(key) == list {
			found = true
			return items(i)
		}
		end, err := span.EndOfValue(r.Body, i)
		if err != nil {
			return 0, err
		}
		return end, beside(r, key, span.Span{Start: i, End: end})
	})
	if err == nil && !found {
		err = errors.New("the body has no " + list)
	}
	if err == nil {
		err = CheckRoom(r)
	}
	return err
}

// MarkEnds has the head end before the first item that is not the system's, and notes whether the model may say more in
// its last answer: behind it stands nothing but reminders, which the client may take back.
func MarkEnds(r *Request) {
	for r.Head < len(r.Items) && r.Items[r.Head].Role == System {
		r.Head++
	}
	said := len(r.Items)
	for said > r.Head && r.Items[said-1].Role == System {
		said--
	}
	r.Upkeep.GoesOn = said > r.Head && r.Items[said-1].Role == Assistant
}
