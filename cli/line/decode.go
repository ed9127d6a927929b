package line

import (
	"encoding"
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// read takes its words, and what they say. A flag at the end of the line has none; an argument has one always.
func (p *Parameter) read(words *Words) error {
	p.given = true
	if _, there := words.Peek(); !there && !p.IsSwitch() {
		return p.lacks()
	}
	err := p.decode(words)
	if err == nil {
		return nil
	}
	err = fmt.Errorf("%s: %w", p, err)
	if flag, ok := errors.AsType[*flagError](err); ok {
		return fmt.Errorf("%w; perhaps try %s=%q?", err, p, flag.word)
	}
	return err
}

// lacks is the error of a flag at the end of the line, where its value had to stand.
func (p *Parameter) lacks() error {
	if p.Placeholder() == "" {
		return fmt.Errorf("flag %s needs a value, such as %s", p, p.Example())
	}
	return fmt.Errorf("flag %s needs a value: %s", p, p.Example())
}

func (p *Parameter) decode(words *Words) (err error) {
	switch to := p.target.(type) {
	case Decoder:
		return to.Decode(words)
	case encoding.TextUnmarshaler:
		return decodeText(to, words)
	case *Asked:
		return decodeSwitch((*bool)(to), words)
	case *bool:
		return decodeSwitch(to, words)
	case *int:
		return decodeWhole(to, words)
	case *uint:
		return decodeCount(to, bits.UintSize, words)
	case *uint64:
		return decodeCount(to, 64, words)
	case *float64:
		return decodeFloat(to, words)
	case *string:
		*to, err = words.Value("string")
	case *[]string:
		if !p.argument {
			return decodeList(to, words)
		}
		*to = words.takePlain()
	case *map[string]string:
		return decodePairs(to, words)
	}
	return err
}

// canDecode reports whether decode knows the type of its field.
func (p *Parameter) canDecode() bool {
	switch p.target.(type) {
	case Decoder, encoding.TextUnmarshaler, *Asked, *bool, *int, *uint, *uint64, *float64, *string, *[]string,
		*map[string]string:
		return true
	}
	return false
}

func decodeText(to encoding.TextUnmarshaler, words *Words) error {
	word, err := words.Value("value")
	if err != nil {
		return err
	}
	return to.UnmarshalText([]byte(word))
}

// decodeSwitch takes no word but one behind =.
func decodeSwitch(to *bool, words *Words) error {
	*to = true
	if words.attached == nil {
		return nil
	}
	word, _ := words.Next()
	switch word = strings.ToLower(word); word {
	case "true", "1", "yes":
	case "false", "0", "no":
		*to = false
	default:
		return fmt.Errorf("bool value must be true, 1, yes, false, 0 or no but got %q", word)
	}
	return nil
}

// decodeWhole takes any word: a number below zero looks like a flag, and who reads it says what is wrong with it.
func decodeWhole(to *int, words *Words) (err error) {
	word, _ := words.Next()
	if *to, err = strconv.Atoi(word); err != nil {
		return fmt.Errorf("cannot read %q: write a whole number", word)
	}
	return nil
}

func decodeCount[T uint | uint64](to *T, size int, words *Words) error {
	word, err := words.Value("uint")
	if err != nil {
		return err
	}
	n, err := strconv.ParseUint(word, 0, size)
	if err != nil {
		return fmt.Errorf("expected a valid %d bit uint but got %q", size, word)
	}
	*to = T(n)
	return nil
}

func decodeFloat(to *float64, words *Words) error {
	word, err := words.Value("float")
	if err != nil {
		return err
	}
	if *to, err = strconv.ParseFloat(word, 64); err != nil {
		return fmt.Errorf("expected a float but got %q (string)", word)
	}
	return nil
}

// decodeList adds the parts of one word.
func decodeList(to *[]string, words *Words) error {
	plain := words.attached != nil
	word, _ := words.Next()
	for _, part := range split(word, ',') {
		if err := refuseFlag("string", part); err != nil && !plain {
			return err
		}
		*to = append(*to, part)
	}
	return nil
}

// decodePairs adds the pairs of one word.
func decodePairs(to *map[string]string, words *Words) error {
	plain := words.attached != nil
	word, _ := words.Next()
	for _, part := range split(word, ';') {
		if err := refuseFlag("map", part); err != nil && !plain {
			return err
		}
		key, value, ok := strings.Cut(part, "=")
		if !ok {
			return fmt.Errorf(`expected "<key>=<value>" but got %q`, part)
		}
		if *to == nil {
			*to = map[string]string{}
		}
		(*to)[key] = value
	}
	return nil
}

// split parts a text at each separator that has no backslash before it. There is nothing behind the last one.
func split(text string, separator byte) (parts []string) {
	var part []byte
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text):
			i++
			if text[i] != separator {
				part = append(part, '\\')
			}
			part = append(part, text[i])
		case text[i] == separator:
			parts = append(parts, string(part))
			part = nil
		default:
			part = append(part, text[i])
		}
	}
	if len(part) > 0 {
		parts = append(parts, string(part))
	}
	return parts
}
