package offload

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"
)

func BenchmarkShelf(b *testing.B) {
	folder := b.TempDir()
	s, d, err := onDisk(folder, time.Now)
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	s.budget.quota = 1 << 40
	fresh := uint64(0)
	for _, size := range []int{40 << 10, 10 << 20} {
		kind := map[int]string{40 << 10: "40KB", 10 << 20: "10MB"}[size]
		content := bytes.Repeat([]byte("content "), size/8)
		name := s.Name("scope", content)
		if err := s.Put(name, content); err != nil {
			b.Fatal(err)
		}
		f := func(what string, do func() error) {
			b.Run(what+"/"+kind, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := do(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		f("Name", func() error { s.Name("scope", content); return nil })
		f("Touch", func() error {
			if !s.Touch(name) {
				return ErrUnknown
			}
			return nil
		})
		f("PutAgain", func() error { return s.Put(name, content) })
		f("PutNew", func() error {
			fresh++
			binary.BigEndian.PutUint64(content, fresh)
			return s.Put(s.Name("scope", content), content)
		})
		f("Get", func() error { _, err := s.Get(name); return err })
		f("Open", func() error {
			r, _, err := s.Open(name)
			if err == nil {
				err = r.Close()
			}
			return err
		})
	}
}
