package calls

import (
	"bytes"
	"compress/flate"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"strconv"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/model"
)

const (
	// maxPart bounds a part, in bytes; a larger one is not kept.
	maxPart = 8 << 20
	// maxKnown bounds the frames that a process remembers to be kept, and touched how often it keeps one again: another
	// process may have removed it with its user.
	maxKnown = 4096
	touched  = time.Hour

	keepTimeout = 5 * time.Second
)

// frame is what the calls of an agent have in common.
type frame struct {
	Model, Provider, System string
	Settings                model.Settings
	Tools                   []model.Tool
}

// frameForm is how it is kept: the long parts by their names.
type frameForm struct {
	Model    string       `json:"model"`
	Provider string       `json:"provider"`
	Settings settingsForm `json:"settings"`
	System   string       `json:"system,omitempty"`
	Tools    string       `json:"tools,omitempty"`
}

type settingsForm struct {
	Temperature *float64 `json:"temperature,omitempty"`
	MaxTokens   int      `json:"max_tokens,omitempty"`
	Thinking    *bool    `json:"thinking,omitempty"`
	Effort      string   `json:"reasoning_effort,omitempty"`
	NoTools     bool     `json:"no_tools,omitempty"`
}

// Tool is a tool as a model is shown it.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

// partKey tells frames of a process apart, at little cost.
type partKey struct {
	user string
	sum  uint64
}

type known struct {
	name string
	at   time.Time
}

func (f *frame) key(user string) partKey {
	h := xxhash.New()
	put := func(s string) {
		_, _ = h.WriteString(strconv.Itoa(len(s))) // no error comes from a sum
		_, _ = h.WriteString(" ")
		_, _ = h.WriteString(s)
	}
	put(f.Model)
	put(f.Provider)
	put(f.System)
	raw, err := json.Marshal(settingsForm(f.Settings))
	put(fmt.Sprint(string(raw), err))
	for i := range f.Tools {
		put(f.Tools[i].Name)
		put(f.Tools[i].Description)
		put(string(f.Tools[i].Parameters))
	}
	return partKey{user, h.Sum64()}
}

// Forget is told that a user is gone with all that he had.
func (c *Calls) Forget(u access.User) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.known, func(k partKey, _ known) bool { return k.user == u.ID() })
	maps.DeleteFunc(c.sums, func(k sumKey, _ sum) bool { return k.user == u.ID() })
}

// keep keeps a frame, unless this process has done so lately.
func (c *Calls) keep(ctx context.Context, m *Mine, f frame) (string, error) {
	key, now := f.key(m.user.ID()), c.cfg.Now()
	c.mu.Lock()
	k, ok := c.known[key]
	c.mu.Unlock()
	if ok && now.Sub(k.at).Abs() < touched {
		return k.name, nil
	}
	name, parts, err := f.parts()
	if err == nil {
		err = m.write(ctx, parts, now)
	}
	if err != nil && !errors.Is(err, database.ErrQuota) { // a full user is not asked again at each call
		return name, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) >= maxKnown {
		c.known = make(map[partKey]known)
	}
	c.known[key] = known{name, now}
	return name, err
}

// part is something that is kept by its name.
type part struct {
	name string
	body []byte
}

// parts are what is to be kept of a frame, and the name of all of it.
func (f *frame) parts() (name string, parts []part, err error) {
	form := frameForm{Model: f.Model, Provider: f.Provider, Settings: settingsForm(f.Settings)}
	add := func(raw []byte) string {
		if len(raw) == 0 || len(raw) > maxPart {
			return ""
		}
		p := part{name: nameOf(raw), body: deflated(raw)}
		parts = append(parts, p)
		return p.name
	}
	form.System = add([]byte(f.System))
	if len(f.Tools) > 0 {
		raw, err := toolsForm(f.Tools)
		if err != nil {
			return "", nil, fmt.Errorf("encode the tools: %w", err)
		}
		form.Tools = add(raw)
	}
	raw, err := json.Marshal(form)
	if err != nil {
		return "", nil, fmt.Errorf("encode the settings: %w", err)
	}
	return add(raw), parts, nil
}

// toolsForm is a list of [Tool] whose schemas have the bytes that they have.
func toolsForm(tools []model.Tool) ([]byte, error) {
	b := []byte{'['}
	for i, t := range tools {
		if i > 0 {
			b = append(b, ',')
		}
		o := rawjson.Begin(b)
		o.String("name", t.Name)
		o.String("description", t.Description)
		o.RawOmitEmpty("parameters", t.Parameters)
		var err error
		if b, err = o.End(); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

// nameOf is the name of a content.
func nameOf(raw []byte) string {
	sum := sha256.Sum256(raw)
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

func deflated(raw []byte) []byte {
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, flate.DefaultCompression) // the level is one
	_, _ = w.Write(raw)                                   // into memory
	_ = w.Close()
	return b.Bytes()
}

func inflated(body []byte) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(body)), maxPart+1))
	if err == nil && len(raw) > maxPart {
		err = store.ErrTooLarge
	}
	return raw, err
}

func (m *Mine) write(ctx context.Context, parts []part, now time.Time) error {
	size := 0
	for _, p := range parts {
		size += len(p.body)
	}
	return m.db.Write(ctx, size, func(tx database.Tx) error {
		for _, p := range parts {
			if _, err := tx.Exec("keep", p.name, database.Micros(now), p.body); err != nil {
				return err
			}
		}
		return nil
	})
}

// part reads a part; [store.ErrNotFound] if it is not there any more.
func (m *Mine) part(ctx context.Context, name string) (raw []byte, err error) {
	var body []byte
	err = m.db.Read(ctx, "part", func(r database.Row) (bool, error) { return false, r.Scan(&body) }, name)
	switch {
	case err != nil:
		return nil, err
	case body == nil:
		return nil, store.ErrNotFound
	}
	raw, err = inflated(body)
	if err == nil && nameOf(raw) != name {
		err = errors.New("its content is another")
	}
	if err != nil {
		err = fmt.Errorf("%w: the part %s of a call: %w", store.ErrCorrupt, name, err)
	}
	return raw, err
}
