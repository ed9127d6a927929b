package fakeapi

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// maxSize bounds every size in a script, in bytes.
const maxSize = 1 << 30

// payload is content of a known size that is made when it is sent.
type payload struct {
	text []byte // all of it, unless nil
	size int
	fill byte // size times, when text is nil
}

// appendTo appends the content to dst.
func (p payload) appendTo(dst []byte) []byte {
	if p.text != nil || p.size == 0 {
		return append(dst, p.text...)
	}
	return append(dst, bytes.Repeat([]byte{p.fill}, p.size)...)
}

// archiveFiles are the data of an archive, by name.
type archiveFiles map[string][]byte

// payload parses the argument of a command that has the forms X, X-file and X-size.
func (files archiveFiles) payload(form, arg string) (payload, error) {
	switch form {
	case "file":
		text, ok := files[arg]
		if !ok {
			return payload{}, fmt.Errorf("there is no data file %q; add -- %s%s --", arg, filePrefix, arg)
		}
		return payload{text: text, size: len(text)}, nil
	case "size":
		return parseFill(arg)
	}
	text, err := parseText(arg)
	return payload{text: []byte(text), size: len(text)}, err
}

// parseFill parses "N" or "N BYTE".
func parseFill(arg string) (payload, error) {
	count, fill, _ := strings.Cut(arg, " ")
	size, err := parseSize(count)
	if err != nil {
		return payload{}, err
	}
	text, err := parseText(strings.TrimSpace(fill))
	if err != nil {
		return payload{}, err
	}
	if text == "" {
		text = "x"
	}
	if len(text) != 1 {
		return payload{}, fmt.Errorf("%q must be a single byte", text)
	}
	return payload{size: size, fill: text[0]}, nil
}

func parseSize(arg string) (int, error) {
	n, err := strconv.ParseUint(arg, 10, 32)
	if err != nil || n > maxSize {
		return 0, fmt.Errorf("%q must be a number of bytes up to %d", arg, maxSize)
	}
	return int(n), nil
}

// parseText returns arg, or what it quotes when it begins with a quotation mark.
func parseText(arg string) (string, error) {
	if !strings.HasPrefix(arg, `"`) {
		return arg, nil
	}
	text, err := strconv.Unquote(arg)
	if err != nil {
		return "", fmt.Errorf("%s is not a quoted string", arg)
	}
	return text, nil
}

// parseField parses TEXT that must look like "NAME: VALUE" and returns it whole too.
func parseField(arg string) (name, value, whole string, err error) {
	whole, err = parseText(arg)
	if err != nil {
		return "", "", "", err
	}
	name, value, ok := strings.Cut(whole, ":")
	if !ok || name == "" {
		return "", "", "", fmt.Errorf("%q must be NAME: VALUE", whole)
	}
	return name, strings.Trim(value, " \t"), whole, nil
}

// parseWait parses a duration of 0 to limit.
func parseWait(arg string) (time.Duration, error) {
	d, err := time.ParseDuration(arg)
	if err != nil {
		return 0, fmt.Errorf("%q must be a duration such as 20ms", arg)
	}
	if d < 0 || d > longestPause {
		return 0, fmt.Errorf("%s must be at least 0s and at most %s", arg, longestPause)
	}
	return d, nil
}

// parseStatus parses "CODE" or "CODE REASON".
func parseStatus(arg string) (code int, reason string, err error) {
	digits, rest, _ := strings.Cut(arg, " ")
	code, err = strconv.Atoi(digits)
	if err != nil || len(digits) != 3 || code < 100 {
		return 0, "", fmt.Errorf("%q must be a code of three digits", digits)
	}
	reason, err = parseText(rest)
	return code, reason, err
}

var errNoArgument = errors.New("takes no argument")
