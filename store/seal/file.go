package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
)

// A sealed file:
//
//	offset  bytes
//	0       8      format
//	8       32     salt, of which and of the file's name its key is made
//	40      …      chunks of 64 KB, each with 16 bytes more; the last one may be shorter, or, if it is the only one,
//	               empty
//
// The nonce of a chunk is its number, and whether it is the last: no chunk can be left out, moved or cut off.
const (
	fileFormat = "episeal1"
	fileSalt   = 32
	fileHead   = len(fileFormat) + fileSalt
	chunkSize  = 64 << 10
	chunkMore  = 16 // bytes more
)

// File is the sealed file of a content under a name.
func (s *Seal) File(name string, content []byte) []byte {
	chunks := max(1, (len(content)+chunkSize-1)/chunkSize)
	out := make([]byte, fileHead, fileHead+len(content)+chunks*chunkMore)
	copy(out, fileFormat)
	_, _ = rand.Read(out[len(fileFormat):fileHead]) // never fails
	key := s.fileKey(name, out[len(fileFormat):fileHead])
	for i := range chunks {
		part := content[i*chunkSize : min(len(content), (i+1)*chunkSize)]
		out = key.Seal(out, chunkNonce(int64(i), i == chunks-1), part, nil)
	}
	return out
}

// fileKey is the key of one file.
func (s *Seal) fileKey(name string, salt []byte) cipher.AEAD {
	key, err := hkdf.Key(sha256.New, s.files, salt, name, sha256.Size)
	var block cipher.Block
	if err == nil {
		block, err = aes.NewCipher(key)
	}
	var aead cipher.AEAD
	if err == nil {
		aead, err = cipher.NewGCM(block)
	}
	if err != nil {
		panic("BUG: cannot make the key of a file: " + err.Error())
	}
	return aead
}

// chunkNonce is unique within a file, whose key no other file has.
func chunkNonce(number int64, last bool) []byte {
	nonce := make([]byte, 12)
	binary.BigEndian.PutUint64(nonce[3:], uint64(number))
	if last {
		nonce[11] = 1
	}
	return nonce
}

// ContentSize is how many bytes the content has that lies in a sealed file of that many; -1 if no file has so many.
func ContentSize(sealed int64) int64 {
	body := sealed - int64(fileHead)
	chunks := (body + chunkSize + chunkMore - 1) / (chunkSize + chunkMore)
	if size := body - chunks*chunkMore; chunks > 0 && size > (chunks-1)*chunkSize || chunks == 1 && size == 0 {
		return size
	}
	return -1
}

// OpenFile returns the content of the sealed file, which it reads chunk by chunk. It takes over from, and closes it if
// it fails.
func (s *Seal) OpenFile(name string, from io.ReadSeekCloser) (io.ReadSeekCloser, error) {
	r, err := s.openFile(name, from)
	if err != nil {
		_ = from.Close()
		return nil, err
	}
	return r, nil
}

func (s *Seal) openFile(name string, from io.ReadSeekCloser) (*fileReader, error) {
	end, err := from.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = from.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, err
	}
	head, size := make([]byte, fileHead), ContentSize(end)
	if size < 0 {
		return nil, ErrDamaged
	}
	if _, err := io.ReadFull(from, head); err != nil {
		return nil, cutOff(err)
	}
	if string(head[:len(fileFormat)]) != fileFormat {
		return nil, ErrDamaged
	}
	return &fileReader{from: from, key: s.fileKey(name, head[len(fileFormat):]), size: size, held: -1}, nil
}

// cutOff is the error of a file that is shorter than it was, or the one that says why it cannot be read.
func cutOff(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return ErrDamaged
	}
	return err
}

// fileReader is the content of a sealed file.
type fileReader struct {
	from io.ReadSeekCloser
	key  cipher.AEAD
	size int64 // bytes of the content
	at   int64 // the byte that is read next

	held   int64  // number of the chunk in plain, -1 if there is none
	plain  []byte // of the chunk that was opened last
	sealed []byte // room for one
}

// Read is that of io.Reader. No byte comes out of it that was not sealed in its place.
func (r *fileReader) Read(p []byte) (int, error) {
	if r.at > r.size || r.at == r.size && (r.size > 0 || r.held == 0) {
		return 0, io.EOF
	}
	if number := min(r.at, max(0, r.size-1)) / chunkSize; number != r.held {
		if err := r.load(number); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.plain[r.at-r.held*chunkSize:])
	r.at += int64(n)
	if n == 0 && len(p) > 0 {
		return 0, io.EOF // of an empty file
	}
	return n, nil
}

// load opens the chunk of this number.
func (r *fileReader) load(number int64) error {
	r.held = -1
	if _, err := r.from.Seek(int64(fileHead)+number*(chunkSize+chunkMore), io.SeekStart); err != nil {
		return err
	}
	if r.sealed == nil {
		r.sealed = make([]byte, min(r.size, chunkSize)+chunkMore)
	}
	begin := number * chunkSize
	size := min(r.size-begin, chunkSize)
	sealed := r.sealed[:size+chunkMore]
	if _, err := io.ReadFull(r.from, sealed); err != nil {
		return cutOff(err)
	}
	plain, err := r.key.Open(r.plain[:0], chunkNonce(number, begin+size == r.size), sealed, nil)
	if err != nil {
		return ErrDamaged
	}
	r.plain, r.held = plain, number
	return nil
}

// Seek is that of io.Seeker.
func (r *fileReader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.at
	case io.SeekEnd:
		offset += r.size
	}
	if offset < 0 {
		return r.at, errors.New("cannot seek before the beginning of a sealed file")
	}
	r.at = offset
	return offset, nil
}

// Close is that of io.Closer.
func (r *fileReader) Close() error { return r.from.Close() }
