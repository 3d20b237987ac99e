package wire

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// ErrStopped says that the consumer of a stream wants no more.
var ErrStopped = errors.New("stream stopped by its consumer")

// Yield is what takes the chunks of a stream; false stops it.
type Yield = func(message.Chunk, error) bool

// Decoder reads the events of one answer: what each vendor does its own way. What an event says goes into out, in the
// order of the message's parts. The chunk that has a finish reason makes the answer complete, whatever is missing; what
// follows it, such as the usage, is read all the same.
type Decoder interface {
	// Event reads an event that has data, which is valid until it returns. [io.EOF] says that nothing more is to come.
	Event(ev Event, out *Chunks) error
	// Whole reads an answer that is not streamed: one JSON value.
	Whole(data []byte, out *Chunks) error
}

// Holder is a [Decoder] that holds pieces back until it knows what they are.
type Holder interface {
	// Release gives out what is held. It is called if the stream ends before the answer is complete.
	Release(out *Chunks)
}

// Ask posts body and yields the answer, or what went wrong as the last pair.
func (c *Client) Ask(ctx context.Context, url string, header http.Header, body []byte, d Decoder, yield Yield) {
	resp, err := c.Post(ctx, url, header, body)
	if err != nil {
		yield(message.Chunk{}, err)
		return
	}
	switch err := c.Read(resp.Body, d, yield); err {
	case nil:
		Finish(resp.Body)
	case ErrStopped:
		resp.Body.Close()
	default:
		resp.Body.Close()
		yield(message.Chunk{}, c.Failure(ctx, err))
	}
}

// Read reads an answer to its end and yields its chunks. It returns nil only for a complete answer, and [ErrStopped] if
// the consumer has stopped it.
func (o *Origin) Read(body io.Reader, d Decoder, yield Yield) error {
	a := answers.Get().(*answer) //nolint:forcetypeassert // it holds nothing else
	a.begin(body)
	defer a.release()
	a.origin, a.decoder, a.yield = o, d, yield
	err := a.read()
	if err == ErrStopped {
		return err
	}
	if h, ok := d.(Holder); ok && !a.out.finished {
		h.Release(&a.out)
	}
	return cmp.Or(a.out.show(yield, 0), a.end(err))
}

// answers are used again, for their buffers. What is read of one is copied before it ends.
var answers = sync.Pool{New: func() any { return &answer{src: bufio.NewReaderSize(nil, sourceSize)} }}

// answer is what the reading of one answer is about.
type answer struct {
	src     *bufio.Reader
	reader  EventReader
	origin  *Origin
	decoder Decoder
	yield   Yield
	out     Chunks
	events  int
}

func (a *answer) begin(body io.Reader) {
	a.src.Reset(body)
	a.reader = EventReader{src: a.src, limit: MaxEvent, data: a.reader.data, long: a.reader.long}
	a.out.list = a.out.room[:0]
}

// release keeps nothing but the buffers, unless one has grown large.
func (a *answer) release() {
	a.src.Reset(nil)
	*a = answer{src: a.src, reader: EventReader{data: a.reader.data, long: a.reader.long}}
	if cap(a.reader.data)+cap(a.reader.long) <= 2*sourceSize {
		answers.Put(a)
	}
}

// read hands the answer to the decoder, event by event or as a whole. It ends with an error, which is io.EOF if there
// is no more.
func (a *answer) read() error {
	switch first, err := firstByte(a.src); {
	case err != nil:
		return err
	case first == '<':
		return a.origin.WebPage(http.StatusOK)
	case first == '{' || first == '[':
		return a.whole()
	}
	for {
		ev, err := a.reader.Next()
		if err != nil {
			return err
		}
		if len(ev.Data) == 0 {
			continue
		}
		if string(ev.Data) == "[DONE]" {
			return io.EOF
		}
		if err := a.event(ev); err != nil {
			return err
		}
		keep := 0
		if a.reader.Ready() { // what has come together is shown together
			keep = 1
		}
		if err := a.out.show(a.yield, keep); err != nil {
			return err
		}
	}
}

// whole reads an answer that is not streamed.
func (a *answer) whole() error {
	data, err := io.ReadAll(io.LimitReader(a.src, MaxEvent+1))
	if err != nil {
		return err
	}
	if len(data) > MaxEvent {
		return ErrEventTooLong
	}
	if err := a.mayDecode(data); err != nil {
		return err
	}
	err = a.decoder.Whole(bytes.TrimSpace(data), &a.out)
	return cmp.Or(a.out.tooLarge, err, io.EOF)
}

// event hands one event to the decoder.
func (a *answer) event(ev Event) error {
	if err := a.mayDecode(ev.Data); err != nil {
		return err
	}
	err := a.decoder.Event(ev, &a.out)
	return cmp.Or(a.out.tooLarge, err)
}

// mayDecode refuses an event that is one too many, or has so many values that reading it would take many times its
// size.
func (a *answer) mayDecode(data []byte) error {
	if a.events++; a.events > model.MaxPieces {
		return fmt.Errorf("%w: more than %d events", model.ErrTooLarge, model.MaxPieces)
	}
	if len(data) > 2*maxValues && values(data) > maxValues { // what is small has few
		return fmt.Errorf("%w: more than %d values in one event", model.ErrTooLarge, maxValues)
	}
	return nil
}

// values counts the values of JSON, about.
func values(data []byte) (n int) {
	quoted := false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case !quoted && (c == ',' || c == '{' || c == '['):
			n++
		}
	}
	return n
}

// end judges how the answer ended. Without a finish reason it is cut, whatever else was said; with one it is complete,
// whatever is missing, unless what came was an error.
func (a *answer) end(err error) error {
	complete := a.out.finished && model.AsError(err) == nil
	switch {
	case errors.Is(err, model.ErrTooLarge):
		return a.origin.Error(model.ClassTooLarge, err, "%s", err)
	case complete:
		return nil
	case err != io.EOF:
		return err
	case a.events == 0:
		return a.origin.Error(model.ClassTransient, nil, "the stream was empty")
	}
	return a.origin.Error(model.ClassTransient, io.ErrUnexpectedEOF, "the stream ended without a finish reason")
}

// firstByte looks at the first byte that is no space.
func firstByte(src *bufio.Reader) (byte, error) {
	for {
		b, err := src.ReadByte()
		if err != nil {
			return 0, err
		}
		if b != ' ' && b != '\n' && b != '\r' && b != '\t' {
			return b, src.UnreadByte()
		}
	}
}

// Chunks are pieces of an answer that were read and not shown yet.
type Chunks struct {
	list     []message.Chunk
	room     [2]message.Chunk // what the list takes as a rule: a chunk that is shown, and the next one
	finished bool
	meter    model.Meter
	tooLarge error // what the meter says
}

// Keep counts bytes of the answer that the decoder keeps and has not put.
func (c *Chunks) Keep(n int) { c.tooLarge = cmp.Or(c.tooLarge, c.meter.Keep(n)) }

// Put adds a chunk behind the others, joined with the last one if that makes no difference.
func (c *Chunks) Put(chunk message.Chunk) {
	c.finished = c.finished || chunk.FinishReason != ""
	if !carries(&chunk) || c.tooLarge != nil {
		return
	}
	if c.tooLarge = c.meter.Add(&chunk); c.tooLarge != nil {
		return
	}
	if n := len(c.list); n > 0 && c.list[n-1].Join(chunk) {
		return
	}
	c.list = append(c.list, chunk)
}

// Finished reports whether the answer is complete.
func (c *Chunks) Finished() bool { return c.finished }

// show hands over all chunks but the last ones.
func (c *Chunks) show(yield Yield, keep int) error {
	shown := 0
	for ; len(c.list)-shown > keep; shown++ {
		if !yield(c.list[shown], nil) {
			return ErrStopped
		}
	}
	n := copy(c.list, c.list[shown:])
	clear(c.list[n:])
	c.list = c.list[:n]
	return nil
}

// carries reports whether a chunk says anything.
func carries(c *message.Chunk) bool {
	return c.Text != "" || c.Reasoning != "" || c.Signature != "" || c.Redacted != "" || len(c.ToolCalls) > 0 ||
		c.Usage != nil || c.FinishReason != "" || len(c.Metadata) > 0 || len(c.Kwargs) > 0
}

// Answers is the response_metadata that says who answers: the answer's id, if it has one, the model's own name of
// itself, if it gives one, and the provider.
func (o *Origin) Answers(id, name string) message.Fields {
	f := message.Fields{"model_provider": rawjson.AppendString(nil, o.Provider)}
	if name = cmp.Or(name, o.Model); name != "" {
		f["model_name"] = rawjson.AppendString(nil, name)
	}
	if id != "" {
		f["id"] = rawjson.AppendString(nil, id)
	}
	return f
}

// NoJSON is the error of an event that cannot be read.
func (o *Origin) NoJSON(data []byte, err error) error {
	return o.Error(model.ClassTransient, err, "the stream holds an event that is no JSON: %.200s", data)
}
