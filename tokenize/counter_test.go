package tokenize_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"
	"github.com/pkoukk/tiktoken-go-loader/assets"

	"epitome/tokenize"
)

// newer are characters of the fixture that the official encoder knows as letters and Go's Unicode tables (15.0) do
// not. A contraction behind one of them is counted as a piece of its own: one token more. When Go's tables know them
// this fails, and they go from here.
const newer = "\U0002ebf0\U0002ebf1\u1c89\u1c8a\ua7cb\ua7cd\ua7da\ua7dc\U00010d40\U00010d50\U00010d65\U00010d70" +
	"\U000105c0\U00011380\U0001e5d0\U0001e5f1\U00016d40\U00013460"

// The fixture was made by the official encoder; testdata/fixture has the program.
func TestCountsAreTheOfficialOnes(t *testing.T) {
	f, err := os.Open("testdata/fixture.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	n := 0
	for lines := bufio.NewScanner(f); lines.Scan(); n++ {
		var row struct {
			Text  string
			O200k int
		}
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		got, want := tokenize.CountString(row.Text), row.O200k
		if strings.HasSuffix(row.Text, "'s") && strings.ContainsAny(row.Text, newer) {
			want++
		}
		if got != want {
			t.Errorf("%.80q counts %d, want %d", row.Text, got, want)
		}
	}
	if n < 4000 {
		t.Errorf("the fixture has only %d rows", n)
	}
}

// oracle is another implementation, slow and independent of ours.
var oracle = sync.OnceValues(func() (*tiktoken.Tiktoken, error) {
	tiktoken.SetBpeLoader(loader.NewOfflineLoader())
	return tiktoken.GetEncoding(tokenize.Vocabulary)
})

func TestVocabularyIsThePublishedOne(t *testing.T) {
	published, err := assets.Assets.ReadFile(tokenize.Vocabulary + ".tiktoken")
	if err != nil {
		t.Fatal(err)
	}
	var tokens [][]byte
	for row := range bytes.Lines(published) { // a token in base64, and its rank
		text, rank, _ := strings.Cut(strings.TrimSpace(string(row)), " ")
		token, err := base64.StdEncoding.DecodeString(text)
		if err != nil || rank != strconv.Itoa(len(tokens)) {
			t.Fatalf("token %d has the row %q: %v", len(tokens), row, err)
		}
		tokens = append(tokens, bytes.TrimSuffix(token, []byte{0xff}))
	}
	packed, err := os.ReadFile(tokenize.Vocabulary + ".zst")
	if err != nil {
		t.Fatal(err)
	}
	d, _ := zstd.NewReader(nil) // without options it cannot fail
	defer d.Close()
	got, err := d.DecodeAll(packed, nil)
	if err != nil || !bytes.Equal(got, bytes.Join(tokens, []byte{0xff})) {
		t.Errorf("the packed tokens are not the %d that are published: %v", len(tokens), err)
	}
}

func FuzzCountsAgreeWithAnotherImplementation(f *testing.F) {
	for _, s := range []string{"", "it's HTTPServer's 123456 ǅx", "\n\t\n  x", "日本語 텍스트 ภาษา",
		"a\u0301\u0301B 'LL ... //\r\n", "😀👍🏽\x7f<|endoftext|>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ToValidUTF8(s, "\ufffd")
		if len(s) > 300 || strings.Contains(s, "ſ") { // the other one does not fold the long s
			t.Skip()
		}
		other, err := oracle()
		if err != nil {
			t.Fatal(err)
		}
		if got, want := tokenize.CountString(s), len(other.EncodeOrdinary(s)); got != want {
			t.Errorf("%q counts %d, want %d", s, got, want)
		}
	})
}

// Long pieces, which are not cut: of one letter, of small letters, of signs, of one script.
func TestLongPiecesAgreeWithAnotherImplementation(t *testing.T) {
	other, err := oracle()
	if err != nil {
		t.Fatal(err)
	}
	chance := rand.New(rand.NewPCG(1, 2))
	for _, alphabet := range []string{"a", "ab", "qzjxkvbpygfwmucldrhsnioate", "=-+*/#", "日本語一番", "กขคงจฉ"} {
		letters := []rune(alphabet)
		for _, n := range []int{65, 300, 600} {
			var b strings.Builder
			for range n {
				b.WriteRune(letters[chance.IntN(len(letters))])
			}
			if got, want := tokenize.CountString(b.String()), len(other.EncodeOrdinary(b.String())); got != want {
				t.Errorf("%d letters of %s count %d, want %d", n, alphabet, got, want)
			}
		}
	}
}

func FuzzAnyBytesAreCountedWithinTheBound(f *testing.F) {
	f.Add([]byte("\xff\xfe\x00\xed\xa0\x80"), 3)
	f.Add([]byte("\t \n"), 5000)
	f.Fuzz(func(t *testing.T, b []byte, times int) {
		b = []byte(strings.Repeat(string(b), min(max(1, times), 1+20000/max(1, len(b)))))
		if n := tokenize.Count(b); n > len(b) || n < (len(b)+127)/128 {
			t.Errorf("%d bytes count as %d tokens", len(b), n)
		}
	})
}

// A counter that takes quadratic time for one of these texts takes hours.
func TestAwkwardTextsAreCountedInLinearTime(t *testing.T) {
	for _, unit := range []string{"a", " ", "\n", "=", "qzjxkvbpygfwmucldrhsnioate", "日本語一番", "😀",
		" \t\n\u3000\r\u0085", "7",
		"\u0301AB", "A", "'", "\x80", "\xed\xa0\x80", "\x00", strings.Repeat(" ", 31) + "x",
		"aGVsbG8gd29ybGQhIQ9Zk3/+x"} {
		text := strings.Repeat(unit, 256<<10/len(unit))
		if n := tokenize.CountString(text); n < 1 || n > len(text) {
			t.Errorf("%q: %d bytes have %d tokens", unit, len(text), n)
		}
	}
}

// Promise 10: a memo forgets the counts used least recently, so that it stays as small as it was made.
func TestMemoForgets(t *testing.T) {
	memo, counted := tokenize.NewMemo(10), 0
	for i := range 2_000 {
		memo.Count(0, fmt.Appendf(nil, "%60d", i%1_000), func() int { counted++; return i })
	}
	if counted != 2_000 {
		t.Errorf("%d of 2000 are counted, want all", counted)
	}
}
