package file

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/sandbox"
)

var errBinary = errors.New("it appears to be a binary file")

// binary looks at the start of a file: text has no NUL byte and is nearly all UTF-8.
func binary(h *sandbox.File) bool {
	buf := make([]byte, 8192)
	n, _ := h.ReadAt(buf, 0)
	b := buf[:n]
	if bytes.IndexByte(b, 0) >= 0 {
		return true
	}
	bad := 0
	for len(b) >= utf8.UTFMax { // the end may be cut inside of a character
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size == 1 {
			bad++
		}
		b = b[size:]
	}
	return bad*10 > n
}

// eachLine calls fn with every line, its line feed included, counted from 1, of the first limit bytes. Of a line longer
// than lineLimit bytes it passes the start and one byte more than lineLimit, so that fn can tell. fs.SkipAll ends it and
// is returned, as is any other error.
func eachLine(r io.Reader, limit int64, lineLimit int, fn func(n int, line string) error) error {
	br := bufio.NewReaderSize(io.LimitReader(r, limit), 64<<10)
	var line []byte
	for n := 1; ; {
		part, err := br.ReadSlice('\n')
		line = append(line, part[:min(len(part), lineLimit+1-len(line))]...)
		if err == bufio.ErrBufferFull {
			continue
		}
		if err != nil && err != io.EOF {
			return err
		}
		if len(line) > 0 {
			if e := fn(n, string(line)); e != nil {
				return e
			}
		}
		if err == io.EOF {
			return nil
		}
		n, line = n+1, line[:0]
	}
}
