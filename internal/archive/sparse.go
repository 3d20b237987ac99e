package archive

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// A file with holes is an entry of what is not a hole, with two records that say where the pieces belong. What is
// written, and what a restore counts and writes, is then as much as the file takes on the disk, however long it says
// that it is.
const (
	recordSize    = "PUDU.size"    // the length of the file
	recordExtents = "PUDU.extents" // AT+LENGTH of each piece, with commas between them
	// maxExtents bounds the pieces of a file; what comes behind them is one piece.
	maxExtents = 4096
)

// extent is a part of a file that is not a hole.
type extent struct{ at, size int64 }

// total is how many bytes the pieces have together.
func total(list []extent) (n int64) {
	for _, p := range list {
		n += p.size
	}
	return n
}

// extentsOf are the pieces of a file of so many bytes; the whole file, where the system does not know its holes.
func extentsOf(f *os.File, size int64) []extent {
	const seekData, seekHole = 3, 4 // of Linux
	whole := []extent{{0, size}}
	if runtime.GOOS != "linux" {
		return whole
	}
	var list []extent
	for at := int64(0); at < size; {
		data, err := f.Seek(at, seekData)
		if errors.Is(err, syscall.ENXIO) {
			break
		}
		hole := size
		if err == nil && len(list) < maxExtents-1 {
			hole, err = f.Seek(data, seekHole)
		}
		if err != nil {
			return whole
		}
		at = min(hole, size)
		if at > data {
			list = append(list, extent{data, at - data})
		}
	}
	return list
}

// setExtents has a header say which pieces of a file of so many bytes follow it.
func setExtents(h *tar.Header, size int64, list []extent) {
	if h.Size = total(list); h.Size == size {
		return
	}
	texts := make([]string, len(list))
	for i, p := range list {
		texts[i] = fmt.Sprintf("%d+%d", p.at, p.size)
	}
	h.PAXRecords = map[string]string{recordSize: strconv.FormatInt(size, 10), recordExtents: strings.Join(texts, ",")}
}

var errExtents = errors.New("the pieces of the file are not as they must be")

// readExtents are those of the file that follows a header, and the length of the file.
func readExtents(h *tar.Header) (list []extent, size int64, err error) {
	text, ok := h.PAXRecords[recordSize]
	if !ok {
		return []extent{{0, h.Size}}, h.Size, nil
	}
	if size, err = strconv.ParseInt(text, 10, 64); err != nil {
		return nil, 0, errExtents
	}
	end := int64(0)
	for text := range strings.SplitSeq(h.PAXRecords[recordExtents], ",") {
		if text == "" && h.Size == 0 {
			break
		}
		at, length, _ := strings.Cut(text, "+")
		var p extent
		p.at, err = strconv.ParseInt(at, 10, 64)
		if err == nil {
			p.size, err = strconv.ParseInt(length, 10, 64)
		}
		if err != nil || p.at < end || p.size < 0 || p.at > size-p.size || len(list) == maxExtents {
			return nil, 0, errExtents
		}
		end = p.at + p.size
		list = append(list, p)
	}
	if size < end || total(list) != h.Size {
		return nil, 0, errExtents
	}
	return list, size, nil
}

// scatter writes what follows a header to where it belongs in a new file, and leaves holes between the pieces.
func scatter(f *os.File, content io.Reader, list []extent, size int64) error {
	for _, p := range list {
		if _, err := f.Seek(p.at, io.SeekStart); err != nil {
			return err
		}
		if _, err := io.CopyN(f, content, p.size); err != nil {
			return damaged(err)
		}
	}
	return f.Truncate(size)
}
