package tokenize

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"image"
	_ "image/gif" // sizes of pictures
	_ "image/jpeg"
	_ "image/png"
	"io"
	"math"
	"regexp"
)

// imageRule is how a model counts an image of a size in pixels; low asks for the cheapest reading.
type imageRule func(width, height float64, low bool) int

// Image returns the tokens of an image. A size that is not known is 0, and counts as 1024 by 1024.
func (m Model) Image(width, height int, low bool) int {
	if width <= 0 || height <= 0 {
		width, height = 1024, 1024
	}
	const most = 1 << 20 // no picture is larger
	return m.image(float64(min(width, most)), float64(min(height, most)), low)
}

// tiles returns a rule: the image is fitted into 2048 by 2048, its shorter side brought down to 768; then each tile of
// 512 by 512 costs tile tokens, and the image base tokens.
func tiles(base, tile int) imageRule {
	return func(w, h float64, low bool) int {
		if low {
			return base
		}
		shrink := min(1, 2048/max(w, h))
		shrink = min(shrink, 768/min(w, h))
		return base + tile*ceil(w*shrink/512)*ceil(h*shrink/512)
	}
}

// patches returns a rule: each patch of 32 by 32 costs multiplier tokens. There are at most 1536 patches; a larger
// image is brought down until whole patches fit in one direction.
func patches(multiplier float64) imageRule {
	return func(w, h float64, _ bool) int {
		const most = 1536
		w, h = w/32, h/32 // in patches
		if ceil(w)*ceil(h) > most {
			shrink := math.Sqrt(most / (w * h))
			if w*shrink < 1 || h*shrink < 1 { // a line
				w, h = most, 1
			} else {
				shrink *= min(math.Floor(w*shrink)/(w*shrink), math.Floor(h*shrink)/(h*shrink))
				w, h = w*shrink, h*shrink
			}
		}
		return int(float64(min(ceil(w)*ceil(h), most))*multiplier + 0.5)
	}
}

// pixels returns a rule: the long side is brought down to a length, and then 750 pixels cost a token, up to a bound.
func pixels(side float64, most int) imageRule {
	return func(w, h float64, _ bool) int {
		shrink := min(1, side/max(w, h))
		return min(max(1, int(w*shrink*h*shrink/750+0.5)), most)
	}
}

// fixed returns a rule by which any image costs n tokens.
func fixed(n int) imageRule { return func(_, _ float64, _ bool) int { return n } }

// ceil rounds up, but for a number that is whole except for its last bits.
func ceil(x float64) int { return max(1, int(math.Ceil(x-1e-9))) }

// Audio returns the tokens of n bytes of sound: ten for a second, at the format's usual rate of bytes.
func Audio(format string, n int) int {
	perSecond := 16_000 // compressed, 128 kbit/s
	if format == "wav" || format == "pcm16" {
		perSecond = 48_000 // 24 kHz, 16 bits, one channel
	}
	return 10 * (n/perSecond + 1)
}

var pageOfPDF = regexp.MustCompile(`/Type\s*/Page\b`) // the node above all pages has the type Pages

// Document returns the tokens of a document in base64, for a model that reads text and image of each page. The number of
// pages is an estimate by the size where none can be seen, as in a PDF whose objects are compressed.
func (m Model) Document(url []byte) int {
	const pageBytes, textOfAPage, mostPages = 50_000, 700, 1_000
	content, _ := base64.StdEncoding.DecodeString(string(url[bytes.LastIndexByte(url, ',')+1:]))
	pages := cmp.Or(len(pageOfPDF.FindAllIndex(content, mostPages)), 1+len(content)/pageBytes)
	return pages * (textOfAPage + m.Image(0, 0, false))
}

// Picture returns the tokens of an image in base64, with or without the beginning of a data URL.
func (m Model) Picture(url []byte, low bool) int {
	_, width, height := PictureSize(url)
	return m.Image(width, height, low)
}

// PictureSize returns the format of an image in base64, and its size in pixels; 0 if it cannot be read.
func PictureSize(url []byte) (format string, width, height int) {
	const head = 256 << 10 // bytes in which the size must stand
	decoder := base64.NewDecoder(base64.StdEncoding, bytes.NewReader(url[bytes.LastIndexByte(url, ',')+1:]))
	c, format, _ := image.DecodeConfig(io.LimitReader(decoder, head)) // zero after an error
	return format, c.Width, c.Height
}

func init() { image.RegisterFormat("webp", "RIFF????WEBPVP8", nil, webpSize) } // no picture is decoded, only its size

// webpSize reads the size of a WebP picture. The letter behind VP8 says where it stands.
func webpSize(r io.Reader) (c image.Config, err error) {
	var b [30]byte
	if _, err = io.ReadFull(r, b[:]); err != nil {
		return c, err
	}
	at := func(start, shift, mask int) int { return int(binary.LittleEndian.Uint32(b[start:])) >> shift & mask }
	switch b[15] {
	case ' ': // lossy
		c.Width, c.Height = at(26, 0, 0x3fff), at(26, 16, 0x3fff)
	case 'L': // lossless
		c.Width, c.Height = at(21, 0, 0x3fff)+1, at(21, 14, 0x3fff)+1
	case 'X': // extended, as an animation
		c.Width, c.Height = at(24, 0, 0xffffff)+1, at(26, 8, 0xffffff)+1
	}
	return c, nil
}
