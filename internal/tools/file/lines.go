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

// eachPart calls fn with the text of the first limit bytes, in parts of at most 64 KiB that never reach over the end of
// a line; n is the number of the part's line, counted from 1. An error of fn ends it and is returned.
func eachPart(r io.Reader, limit int64, fn func(n int, part []byte) error) error {
	br := bufio.NewReaderSize(io.LimitReader(r, limit), 64<<10)
	for n := 1; ; {
		part, err := br.ReadSlice('\n')
		if err != nil && err != io.EOF && err != bufio.ErrBufferFull {
			return err
		}
		if len(part) > 0 {
			if e := fn(n, part); e != nil {
				return e
			}
		}
		if err == io.EOF {
			return nil
		}
		if err == nil {
			n++
		}
	}
}

// eachLine calls fn with every line that has at most maxGrepLine characters.
func eachLine(r io.Reader, limit int64, fn func(n int, line []byte) error) error {
	const most = maxGrepLine*utf8.UTFMax + 2
	var line []byte
	at := 0
	flush := func() error {
		text := bytes.TrimRight(line, "\r\n")
		if len(line) > most || utf8.RuneCount(text) > maxGrepLine {
			return nil
		}
		return fn(at, text)
	}
	err := eachPart(r, limit, func(n int, part []byte) error {
		if n != at && at > 0 {
			if err := flush(); err != nil {
				return err
			}
			line = line[:0]
		}
		at = n
		line = append(line, part[:min(len(part), most+1-len(line))]...)
		return nil
	})
	if err != nil || at == 0 {
		return err
	}
	return flush()
}
