// Package scripted is a model that answers from a script instead of thinking: for tests, demos and benchmarks. It says
// so in its name, "scripted/<script>", and in response_metadata.
//
// A script is a YAML or JSON file:
//
//	name: files                      # optional; else the file's name
//	dialogues:
//	  - match: "(?i)list"            # a regular expression on the user's text; the first match wins; none = any text
//	    final: "Enough."             # optional: the answer when tools are forbidden
//	    turns:
//	      - reasoning: "The user wants files."
//	        text: "I look."
//	        tool_calls:
//	          - name: ls
//	            args: {path: "/mnt/user-data/{{firstLine .User}}"}   # or a string, which is sent as it is
//	      - text: "The first file is {{firstLine .LastToolResult}}."
//	      # also: finish_reason, usage {input_tokens, output_tokens, cache_read}, delay, chunk_delay, chunk_size and
//	      # error {class, status, code, message, retry_after}, which fails after the turn's text, each time
//
// The turn is chosen from the conversation alone, never from a counter: it is the number of AI messages after what the
// user said last. So a retry, a second process and a resumed run get the same answer. When the turns are used
// up, the last one is given again if it calls no tool; else the call fails.
//
// Texts and arguments are text/template with .User, .LastToolResult, .ToolResults (of this request, in order),
// .AllText, .System, and the functions firstLine and match ("match RE TEXT": the first group, else the whole match,
// else "").
package scripted

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// provider is the name in errors and metadata.
const provider = "scripted"

// Config says where the script is: in Path, or in Script itself.
type Config struct {
	// Path of a YAML or JSON file of at most 4 MiB.
	Path string
	// Script is the content, if Path is only its name.
	Script []byte
	// Sleep waits for the delays of the script; nil waits for real. It returns the context's error if that ends first.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Model plays a script. It is safe for concurrent use.
type Model struct {
	script *script
	player player
}

var _ model.ChatModel = (*Model)(nil)

// New loads a script. An error names the file, the line and what to do.
func New(cfg Config) (*Model, error) {
	data := cfg.Script
	if data == nil {
		var err error
		if data, err = readFile(cfg.Path); err != nil {
			return nil, fmt.Errorf("load script: %w", err)
		}
	}
	s, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("load script %s: %w", or(cfg.Path, "(inline)"), err)
	}
	if s.Name == "" {
		s.Name = or(strings.TrimSuffix(filepath.Base(cfg.Path), filepath.Ext(cfg.Path)), "inline")
	}
	return &Model{script: s, player: newPlayer(s.Name, cfg.Sleep)}, nil
}

// readFile reads a file, but not one that can be no script.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxScript {
		return nil, fmt.Errorf("%s is not a regular file of at most 4 MiB", path)
	}
	return os.ReadFile(path)
}

// Name is "scripted/<script>".
func (m *Model) Name() string { return provider + "/" + m.script.Name }

// Stream implements [model.ChatModel].
func (m *Model) Stream(ctx context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	return func(yield func(message.Chunk, error) bool) {
		turn, err := m.script.turn(req)
		if err != nil {
			turn = Turn{Error: &Error{Class: model.ClassBadRequest, Message: err.Error()}}
		}
		m.player.play(ctx, req, turn, yield)
	}
}

// Func is a model made of a Go function that maps a request to the answer, for tests.
type Func func(req *model.Request) Turn

var _ model.ChatModel = Func(nil)

// Name is "scripted/func".
func (Func) Name() string { return provider + "/func" }

// Stream implements [model.ChatModel].
func (f Func) Stream(ctx context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	return func(yield func(message.Chunk, error) bool) {
		p := newPlayer("func", nil)
		p.play(ctx, req, f(req), yield)
	}
}

func or(s, fallback string) string {
	if s == "" || s == "." {
		return fallback
	}
	return s
}
