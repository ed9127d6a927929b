package browser_test

import (
	"errors"
	"flag"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"epitome/sdk/sdktest"
)

var update = flag.Bool("update", false, "write the pictures in docs/pages, to be looked at before they are committed")

// pictures are those in the documents: a page and a look each.
var pictures = []string{"overview-light.png", "conversation-light.png", "conversation-dark.png", "conversation-narrow.png",
	"exchange-light.png"}

// inDocs is where they stand.
var inDocs = filepath.Join("..", "..", "docs", "pages")

// mostPicture bounds a picture in the repository, in bytes.
const mostPicture = 150_000

// testPictures takes the pictures of a demo that stays, and holds those in the documents to their size.
func (r rig) testPictures(t *testing.T) {
	tmp := t.TempDir()
	folder := filepath.Join(tmp, "pictures")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	base := r.startDemo(t, tmp)
	r.play(t, "shots.mjs", facts{"base": base, "data": filepath.Join(tmp, "epitome-demo"), "folder": folder, "shots": pictures})
	for _, name := range pictures {
		if *update {
			squeeze(t, filepath.Join(folder, name), filepath.Join(inDocs, name))
		}
		committed, bytes := sizeOf(t, filepath.Join(inDocs, name))
		if fresh, _ := sizeOf(t, filepath.Join(folder, name)); fresh != committed || bytes > mostPicture {
			t.Errorf("docs/pages/%s is of %v and %d bytes, and would be of %v now; -update writes it", name, committed, bytes, fresh)
		}
	}
}

// squeeze writes a picture with as many colours as a byte can tell: the most frequent ones, and for others the nearest.
func squeeze(t *testing.T, from, to string) {
	t.Helper()
	picture := decoded(t, from)
	counts := map[color.Color]int{}
	bounds := picture.Bounds()
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			counts[picture.At(x, y)]++
		}
	}
	palette := color.Palette(slices.Collect(maps.Keys(counts)))
	slices.SortFunc(palette, func(a, b color.Color) int { return counts[b] - counts[a] })
	small := image.NewPaletted(bounds, palette[:min(len(palette), 256)])
	draw.Draw(small, bounds, picture, bounds.Min, draw.Src)
	out, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := errors.Join(encoder.Encode(out, small), out.Close()); err != nil {
		t.Fatal(err)
	}
}

func decoded(t *testing.T, path string) image.Image {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	picture, err := png.Decode(f)
	if err != nil {
		t.Fatalf("cannot read %s: %v", path, err)
	}
	return picture
}

// sizeOf returns the width and height of a picture, and its bytes.
func sizeOf(t *testing.T, path string) (size [2]int, bytes int64) {
	t.Helper()
	bounds := decoded(t, path).Bounds()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return [2]int{bounds.Dx(), bounds.Dy()}, info.Size()
}

// linked is the link that a demo prints.
var linked = regexp.MustCompile(`(http://\S+)/-/login#`)

// startDemo plays the demo, with its folder in tmp, and returns where its epitome runs on until the test ends.
func (r rig) startDemo(t *testing.T, tmp string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), r.program, "demo", "--open", "--turns", "100")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	cmd.Env = append(sdktest.Environ(), "TMPDIR="+tmp)
	said := filepath.Join(tmp, "said")
	out, err := os.Create(said)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = out, out
	err = cmd.Start()
	_ = out.Close()
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		<-ended
	})
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		text, err := os.ReadFile(said)
		if err != nil {
			t.Fatal(err)
		}
		if found := linked.FindSubmatch(text); found != nil {
			return string(found[1])
		}
	}
	text, _ := os.ReadFile(said)
	t.Fatalf("the demo prints no link:\n%s", text)
	return ""
}
