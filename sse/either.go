package sse

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
)

// Hearer hears what a body says that is an event stream or one document.
type Hearer interface {
	// Document hears all of a body that is no stream.
	Document(doc []byte) error
	// Event hears one event of a stream; last says that none behind it matters.
	Event(e Event) (last bool, err error)
	// End is called where a stream ends without a last event; it says whether that is an error.
	End() error
}

// Most bounds what is read, in bytes.
type Most struct{ Document, Event int }

// ErrLongDocument says that what is no stream is longer than it may be.
var ErrLongDocument = errors.New("the answer is too long")

// ReadEither has h hear a body that is a stream or a document, whatever its type says: the beginning decides.
func ReadEither(contentType string, body io.Reader, most Most, h Hearer) error {
	in := bufio.NewReaderSize(body, 64<<10)
	begin, _ := in.Peek(64)
	isObject := bytes.HasPrefix(bytes.TrimLeft(begin, " \t\r\n"+mark), []byte("{"))
	if strings.Contains(contentType, "event-stream") && !isObject || Looks(begin) {
		return readEvents(NewReader(in, most.Event), h)
	}
	doc, err := io.ReadAll(io.LimitReader(in, int64(most.Document)+1))
	switch {
	case err != nil:
		return err
	case len(doc) > most.Document:
		return ErrLongDocument
	}
	return h.Document(doc)
}

// readEvents has h hear events up to the last one.
func readEvents(events *Reader, h Hearer) error {
	for {
		e, err := events.Next()
		switch {
		case errors.Is(err, io.EOF):
			return h.End()
		case err != nil:
			return err
		}
		if last, err := h.Event(e); last || err != nil {
			return err
		}
	}
}
