package frames

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
)

// metadata is what is the same in the metadata of all messages of a run.
type metadata struct {
	config []byte // the object of the configuration's members
	start  []byte // members of every message, with the brace that opens the object
	model  []byte // members of the model's messages, each with a comma before it
}

// reserved are the members that the projector sets itself.
func reserved() []string {
	return []string{
		"thread_id", "run_id", "langgraph_step", "langgraph_node", "langgraph_triggers", "langgraph_path",
		"langgraph_checkpoint_ns", "checkpoint_ns", "ls_model_type",
	}
}

func newMetadata(cfg *Config) (metadata, error) {
	all, err := members(cfg.Metadata)
	if err != nil {
		return metadata{}, fmt.Errorf("frames: Config.Metadata: %w", err)
	}
	model, err := members(cfg.ModelMetadata)
	if err != nil {
		return metadata{}, fmt.Errorf("frames: Config.ModelMetadata: %w", err)
	}
	for _, name := range reserved() {
		delete(all, name)
		delete(model, name)
	}
	for name := range model {
		delete(all, name)
	}
	o := rawjson.Begin(nil)
	o.Members(all)
	config := slices.Clone(append(o.Buf, '}'))
	o.String("thread_id", cfg.ThreadID)
	o.String("run_id", cfg.RunID)
	m := rawjson.Begin(nil)
	m.String("ls_model_type", "chat")
	m.Members(model)
	return metadata{config: config, start: o.Buf, model: append([]byte{','}, m.Buf[1:]...)}, nil
}

// TaskID names the execution of a node in a step of a run, in the form of a UUID. call tells apart the tool calls that
// run side by side; it is empty for other nodes.
func TaskID(runID string, step int, node, call string) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{runID, strconv.Itoa(step), node, call}, "\x00")))
	h := hex.EncodeToString(sum[:16])
	return h[:8] + "-" + h[8:12] + "-8" + h[13:16] + "-8" + h[17:20] + "-" + h[20:32]
}

// task is the execution of a node in the step under way.
func (p *Projector) task(s *scope, node, call string) string {
	return TaskID(p.cfg.RunID, s.step(), s.path+node, call)
}

// source is what the metadata of a message depends on, within a scope.
type source struct {
	step       int
	node, call string
	model      bool
}

// metadataOf is the object that stands beside a message of the node. What was made last is kept: that of a message's
// first piece serves its end, too. The caller must not change it.
func (p *Projector) metadataOf(s *scope, node, call string, model bool) []byte {
	from := source{step: s.step(), node: node, call: call, model: model}
	if s.beside == nil || s.from != from {
		s.from, s.beside = from, p.newMetadataOf(s, node, call, model)
	}
	return s.beside
}

func (p *Projector) newMetadataOf(s *scope, node, call string, model bool) []byte {
	ns := s.path + node + ":" + p.task(s, node, call)
	o := rawjson.Object{Buf: append(make([]byte, 0, len(p.meta.start)+len(p.meta.model)+2*len(ns)+256),
		p.meta.start...)}
	o.Int("langgraph_step", int64(s.step()))
	o.String("langgraph_node", node)
	o.Raw("langgraph_triggers", triggers(node))
	o.Key("langgraph_path")
	o.Buf = append(rawjson.AppendString(append(o.Buf, `["__pregel_pull",`...), node), ']')
	o.String("langgraph_checkpoint_ns", ns)
	if model {
		o.String("checkpoint_ns", ns)
		o.Buf = append(o.Buf, p.meta.model...)
	}
	return append(o.Buf, '}')
}

func triggers(node string) json.RawMessage {
	return append(rawjson.AppendString([]byte{'['}, "branch:to:"+node), ']')
}
