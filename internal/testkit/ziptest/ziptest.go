// Package ziptest makes archives for tests, also those that nobody should unpack.
package ziptest

import (
	"archive/zip"
	"bytes"
	"cmp"
	"compress/flate"
	"hash/crc32"
	"io"
	"io/fs"
	"sync"
	"testing"
)

// Member is a member of an archive.
type Member struct {
	// Name ends in / for a folder.
	Name, Content string
	// Mode is not in the archive if it is 0.
	Mode fs.FileMode
	// Zeros is how many MiB of them it has in place of a content, and Says how many bytes its header claims; 0: as
	// many.
	Zeros, Says int
}

// packer compresses the members of all archives, one after the other: it takes far more time to make than to pack a
// small file.
var (
	packing   sync.Mutex
	packer, _ = flate.NewWriter(nil, flate.BestSpeed) // fails for an unknown level alone
)

// Archive makes an archive.
func Archive(t testing.TB, list ...Member) []byte {
	t.Helper()
	var b bytes.Buffer
	packing.Lock()
	defer packing.Unlock()
	z := zip.NewWriter(&b)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		packer.Reset(w)
		return packer, nil
	})
	for _, m := range list {
		h := &zip.FileHeader{Name: m.Name, Method: zip.Deflate}
		if m.Mode != 0 {
			h.SetMode(m.Mode)
		}
		create, content := z.CreateHeader, []byte(m.Content)
		if m.Zeros > 0 {
			create, content = z.CreateRaw, zeros(t, m.Zeros)
			h.CRC32 = crc32.ChecksumIEEE(make([]byte, m.Zeros<<20))
			h.CompressedSize64, h.UncompressedSize64 = uint64(len(content)), uint64(cmp.Or(m.Says, m.Zeros<<20))
		}
		w, err := create(h)
		if err == nil {
			_, err = w.Write(content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// zeros are what so many MiB of them are when they are packed: as often what one is, and an end. The archive may be in
// the middle of a member, so that its packer is not free.
func zeros(t testing.TB, mib int) []byte {
	t.Helper()
	var one, end bytes.Buffer
	alone, err := flate.NewWriter(&one, flate.BestSpeed)
	if err == nil {
		_, err = alone.Write(make([]byte, 1<<20))
	}
	if err == nil {
		err = alone.Flush()
	}
	if err == nil {
		alone.Reset(&end)
		err = alone.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return append(bytes.Repeat(one.Bytes(), mib), end.Bytes()...)
}
