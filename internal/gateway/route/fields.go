package route

import "encoding/json"

// ThreadID is a thread's id in a body; empty if it is missing.
type ThreadID string

// ReadFrom implements [Reader].
func (t *ThreadID) ReadFrom(in *Input, name string) { *t = ThreadID(in.ThreadID(name)) }

// Metadata is what a client says about a thing; nil if it says nothing.
type Metadata json.RawMessage

// ReadFrom implements [Reader].
func (m *Metadata) ReadFrom(in *Input, name string) { *m = Metadata(in.Metadata(name)) }

// Filter are the members that the metadata of what is searched must have.
type Filter map[string]json.RawMessage

// ReadFrom implements [Reader].
func (f *Filter) ReadFrom(in *Input, name string) { *f = in.Filter(name) }

// Rest is the body, for what a handler can only read with what it has itself. It comes with what is wrong with the
// request so far: the handler reads on and returns Err before it does anything.
type Rest struct{ *Input }

// ReadFrom implements [Reader].
func (r *Rest) ReadFrom(in *Input, _ string) { r.Input = in }
