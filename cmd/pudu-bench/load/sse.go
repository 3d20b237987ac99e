package load

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync"
)

// maxFrame bounds a server-sent event, in bytes.
const maxFrame = 256 << 20

var errFrameTooLong = errors.New("read stream: an event of more than 256 MiB")

// frame is one server-sent event. Its bytes are valid until the next one is read.
type frame struct{ event, id, data []byte }

// frameReader reads server-sent events and copies what they hold, no more. Lines end with LF or CRLF. Make one with
// newFrameReader and release it.
type frameReader struct {
	src   *bufio.Reader
	frame frame
	long  []byte // a line that is longer than src's buffer
	limit int
}

var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 16<<10) }}

func newFrameReader(r io.Reader) *frameReader {
	src := readers.Get().(*bufio.Reader) //nolint:forcetypeassert // it holds nothing else
	src.Reset(r)
	return &frameReader{src: src, limit: maxFrame}
}

func (r *frameReader) release() {
	r.src.Reset(nil)
	readers.Put(r.src)
	r.src = nil
}

// next returns the next event that has data. io.EOF is the end of the stream; one in the middle of an event is
// io.ErrUnexpectedEOF.
func (r *frameReader) next() (frame, error) {
	f, begun, hasData := &r.frame, false, false
	f.event, f.id, f.data = f.event[:0], f.id[:0], f.data[:0]
	for {
		line, err := r.line()
		if err != nil {
			if err == io.EOF && begun {
				err = io.ErrUnexpectedEOF
			}
			return frame{}, err
		}
		if len(line) == 0 {
			if hasData {
				return *f, nil
			}
			f.event, f.id, begun = f.event[:0], f.id[:0], false
			continue
		}
		begun = true
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "event":
			f.event = append(f.event[:0], value...)
		case "id":
			f.id = append(f.id[:0], value...)
		case "data":
			if hasData {
				f.data = append(f.data, '\n')
			}
			f.data, hasData = append(f.data, value...), true
		}
		if len(f.data) > r.limit {
			return frame{}, errFrameTooLong
		}
	}
}

// line returns the next line without its end, valid until the next call. io.EOF comes alone: what has no end is
// io.ErrUnexpectedEOF.
func (r *frameReader) line() ([]byte, error) {
	part, err := r.src.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		r.long = append(r.long[:0], part...)
		for err == bufio.ErrBufferFull {
			if len(r.long) > r.limit {
				return nil, errFrameTooLong
			}
			part, err = r.src.ReadSlice('\n')
			r.long = append(r.long, part...)
		}
		part = r.long
	}
	if err == io.EOF && len(part) > 0 {
		return nil, io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(part[:len(part)-1], []byte("\r")), nil
}
