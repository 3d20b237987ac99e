package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// Bounds of what a [tool.Source] brings.
const (
	sourceTimeout  = 10 * time.Second
	maxSourceTools = 256
	maxFailure     = 500      // of what is said of a failure, in bytes
	maxToolText    = 64 << 10 // of a description, and of a schema, in bytes
)

// sourced are the tools of sources that the model was offered last: the hash of what a call of each must fit to, by
// name.
var sourced = state.LastValue[map[string]string]("loop_sources").AsPrivate()

// source is what a run knows of one of its sources.
type source struct {
	tools   []boundTool
	version string
	failure string // of the last time; empty if there was none
}

// askSources finds out which tools there are now. What a source fails with is shown once; the run goes on without its
// tools.
func (r *run) askSources(ctx context.Context) error {
	if len(r.cfg.Sources) == 0 {
		return nil
	}
	r.tools, r.hashes, r.changed = r.Agent.tools.clone(), make(map[string]string), nil
	if r.sources == nil {
		r.sources = make([]source, len(r.cfg.Sources))
	}
	for i, s := range r.cfg.Sources {
		at := &r.sources[i]
		before := at.failure
		at.ask(ctx, s, r.rt.Env.Ref)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if at.failure != "" && at.failure != before {
			// Strings can always be encoded.
			raw, _ := json.Marshal(map[string]string{"type": "tools_unavailable", "message": at.failure})
			r.rt.Emit(NodeModel, event.Custom{Value: raw})
		}
		for _, t := range at.tools {
			if r.tools.add(t) {
				r.hashes[t.spec.Name] = t.hash()
			}
		}
	}
	return nil
}

// ask brings the tools up to date.
func (s *source) ask(ctx context.Context, from tool.Source, ref tool.Ref) {
	list, version, err := toolsOf(ctx, from, ref)
	switch {
	case err != nil:
		*s = source{failure: excerpt.Bound(err.Error(), maxFailure)}
		return
	case version != "" && version == s.version:
		s.failure = ""
		return
	}
	*s = source{version: version}
	for _, t := range list {
		b, err := bind(t)
		if err == nil && max(len(b.spec.Description), len(b.spec.Parameters)) > maxToolText {
			err = fmt.Errorf("tool %q: its description or its schema has more than %d bytes", b.spec.Name, maxToolText)
		}
		if err != nil {
			s.failure = err.Error()
			s.version = "" // so that it is said again should it come again
			continue
		}
		s.tools = append(s.tools, b)
	}
}

// toolsOf asks a source. One that panics, or brings too much, has failed.
func toolsOf(ctx context.Context, from tool.Source, ref tool.Ref) (list []tool.Tool, version string, err error) {
	ctx, cancel := context.WithTimeout(ctx, sourceTimeout)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = panicked("source of tools", p)
		}
	}()
	list, version, err = from.Tools(ctx, ref)
	if err == nil && len(list) > maxSourceTools {
		err = fmt.Errorf("%d tools are more than a source may have (%d)", len(list), maxSourceTools)
	}
	return list, version, err
}

// noteSourced is the write that remembers what the model was offered, if that has changed.
func (r *run) noteSourced() []state.Update {
	if len(r.cfg.Sources) == 0 || maps.Equal(r.hashes, sourced.Get(r.state)) {
		return nil
	}
	return []state.Update{sourced.Put(r.hashes)}
}

// hash tells schemas and effects apart.
func (t boundTool) hash() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", t.spec.Effect, t.spec.Parameters))
	return hex.EncodeToString(sum[:8])
}

// recallSources asks the sources in a run that goes on with calls that an earlier process was offered the tools of.
func (r *run) recallSources(ctx context.Context) error {
	if r.sources != nil {
		return nil
	}
	if err := r.askSources(ctx); err != nil {
		return err
	}
	r.changed = make(map[string]bool)
	for name, hash := range sourced.Get(r.state) {
		r.changed[name] = r.hashes[name] != "" && r.hashes[name] != hash
	}
	return nil
}

var (
	errChanged = errors.New(
		"this tool has changed since you called it: read its present description, then call it again",
	)
	errGone = errors.New("this tool was there when you called it, and is not available any more")
)

// unavailable says why a call of a tool that came of a source cannot be made; nil if it can, or if there never was one.
func (r *run) unavailable(name string) error {
	_, there := r.tools.byName[name]
	switch {
	case there && r.changed[name]:
		return errChanged
	case !there && sourced.Get(r.state)[name] != "":
		return fmt.Errorf("%w.%s", errGone, r.failures())
	}
	return nil
}

// failures say what sources have failed with.
func (r *run) failures() string {
	for _, s := range r.sources {
		if s.failure != "" {
			return " Some are missing: " + s.failure
		}
	}
	return ""
}
