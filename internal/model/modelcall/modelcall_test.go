package modelcall

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/model/tokens"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// played is a model that gives its chunks and then its error, if there is one, and keeps what it was asked.
type played struct {
	chunks []message.Chunk
	err    error
	asked  *model.Request
}

func (*played) Name() string { return "acme/mini" }

func (p *played) Stream(_ context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	p.asked = req
	return func(yield func(message.Chunk, error) bool) {
		for _, c := range p.chunks {
			if !yield(c, nil) {
				return
			}
		}
		if p.err != nil {
			yield(message.Chunk{}, p.err)
		}
	}
}

func say(text string) []message.Chunk {
	return []message.Chunk{{Text: text, Metadata: message.Fields{"id": json.RawMessage(`"1"`)}}, {FinishReason: "stop"}}
}

// TestTheAnswerSaysWhoGaveIt in the place of another, and nothing of it otherwise.
func TestTheAnswerSaysWhoGaveIt(t *testing.T) {
	for instead, want := range map[bool]message.Fields{
		false: {"id": json.RawMessage(`"1"`), "finish_reason": json.RawMessage(`"stop"`)},
		true: {"id": json.RawMessage(`"1"`), "finish_reason": json.RawMessage(`"stop"`),
			KeyAnsweredBy: json.RawMessage(`"b"`)},
	} {
		p := &played{chunks: append(say("hi"), message.Chunk{Usage: &message.Usage{TotalTokens: 3}})}
		m := &Model{ChatModel: p, Entry: Entry{Name: "b", Window: 10}, Instead: instead}
		answer, err := model.Collect(m.Stream(t.Context(), &model.Request{}))
		if diff := cmp.Diff(want, answer.ResponseMetadata); diff != "" || err != nil {
			t.Errorf("instead %v: %v %s", instead, err, diff)
		}
		if _, changed := p.chunks[0].Metadata[KeyAnsweredBy]; changed {
			t.Error("the model's own chunk was changed")
		}
		if e, other := Of(m); other != instead || other && e.Window != 10 {
			t.Errorf("instead %v: %+v", instead, e)
		}
		if got := AnsweredBy(&answer, "a"); instead && got != "b" || !instead && got != "a" {
			t.Errorf("instead %v: answered by %s", instead, got)
		}
	}
	if _, other := Of(&played{}); other {
		t.Error("a plain model is asked in the place of none")
	}
}

// TestAModelWithoutEyesIsSentWords in the places of images, wherever they stand; the run's own model is sent what it
// is.
func TestAModelWithoutEyesIsSentWords(t *testing.T) {
	picture := message.Part{Type: message.PartImage, URL: "https://x/y.png"}
	unseen := message.Text("[picture: https://x/y.png; this model cannot see pictures]")
	other := message.Part{Type: message.PartRaw, Raw: json.RawMessage(`{"type":"something"}`)}
	req := &model.Request{Messages: []message.Message{
		message.New(message.Human, "look"),
		{Role: message.Human, Content: []message.Part{message.Text("at"), picture}},
		{Role: message.AI, ToolCalls: []message.ToolCall{{ID: "1", Name: "see"}}},
		{Role: message.Tool, ToolCallID: "1", Name: "see", Content: []message.Part{other, picture}},
	}}
	for _, tt := range []struct {
		name  string
		model Model
		blind bool
	}{
		{"another model that cannot see", Model{Instead: true}, true},
		{"another model that can", Model{Instead: true, Entry: Entry{Vision: true}}, false},
		{"the run's own", Model{}, false},
	} {
		p := &played{chunks: say("hi")}
		tt.model.ChatModel = p
		if _, err := model.Collect(tt.model.Stream(t.Context(), req)); err != nil {
			t.Fatal(err)
		}
		want := req.Messages
		if tt.blind {
			want = []message.Message{
				req.Messages[0],
				{Role: message.Human, Content: []message.Part{message.Text("at"), unseen}},
				req.Messages[2],
				{Role: message.Tool, ToolCallID: "1", Name: "see", Content: []message.Part{other, unseen}},
			}
		}
		if diff := cmp.Diff(want, p.asked.Messages); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
		if !tt.blind && p.asked != req {
			t.Errorf("%s: the request was copied for nothing", tt.name)
		}
	}
	if req.Messages[1].Content[1].Type != message.PartImage {
		t.Error("the request of the caller was changed")
	}
}

func TestFit(t *testing.T) {
	asked := model.Settings{Temperature: new(0.5), MaxTokens: 9000, Thinking: new(true), Effort: "high", NoTools: true}
	for _, tt := range []struct {
		entry Entry
		want  model.Settings
	}{
		{Entry{Thinking: true, Effort: true}, asked},
		{Entry{MaxAnswer: 20_000, Effort: true, Thinking: true}, asked},
		{Entry{MaxAnswer: 4000}, model.Settings{Temperature: asked.Temperature, MaxTokens: 4000, NoTools: true}},
		{Entry{Effort: true}, model.Settings{Temperature: asked.Temperature, MaxTokens: 9000, Effort: "high",
			NoTools: true}},
	} {
		if diff := cmp.Diff(tt.want, tt.entry.Fit(asked)); diff != "" {
			t.Errorf("%+v: %s", tt.entry, diff)
		}
	}
}

// TestARefusalPausesTheKey: the next call finds out without asking. Other failures pause nothing.
func TestARefusalPausesTheKey(t *testing.T) {
	for class, want := range map[model.Class]time.Duration{
		model.ClassRateLimit: 7 * time.Second, model.ClassBurst: 7 * time.Second, model.ClassBusy: 0,
		model.ClassTransient: 0, model.ClassQuota: 0,
	} {
		synctest.Test(t, func(t *testing.T) {
			key := NewLimiter(Limits{Concurrent: 1})
			failure := &model.Error{Class: class, RetryAfter: 7 * time.Second}
			_, err := model.Collect((&Model{ChatModel: &played{err: failure}, Key: key}).
				Stream(t.Context(), &model.Request{}))
			if !errors.Is(err, failure) {
				t.Fatalf("error %v", err)
			}
			begin := time.Now()
			if _, err := model.Collect((&Model{ChatModel: &played{chunks: say("hi")}, Key: key}).
				Stream(t.Context(), &model.Request{})); err != nil {
				t.Error(err)
			}
			if took := time.Since(begin); took != want {
				t.Errorf("%s: the next call waited %v, want %v", class, took, want)
			}
		})
	}
}

// TestUsageThatTheVendorDoesNotTellIsEstimated, and marked; a failed call has none.
func TestUsageThatTheVendorDoesNotTellIsEstimated(t *testing.T) {
	told := message.Chunk{Usage: &message.Usage{InputTokens: 4, OutputTokens: 1, TotalTokens: 5}}
	req := &model.Request{System: "You are a pudu.",
		Messages: []message.Message{message.New(message.Human, "hello there")}, Tools: []model.Tool{{Name: "look"}}}
	in := tokens.Request(req.System, req.Tools, req.Messages)
	for name, tt := range map[string]struct {
		model     played
		want      *message.Usage
		estimated bool
	}{
		"told": {played{chunks: append(say("hi"), told)}, told.Usage, false},
		"silent": {played{chunks: say("four times four ")},
			&message.Usage{InputTokens: in, OutputTokens: 4, TotalTokens: in + 4}, true},
		"failed": {played{chunks: say("abcdefgh"), err: &model.Error{Class: model.ClassTransient}}, nil, false},
	} {
		got, _ := model.Collect((&Model{ChatModel: &tt.model}).Stream(t.Context(), req))
		if diff := cmp.Diff(tt.want, got.Usage); diff != "" ||
			tt.estimated != (string(got.ResponseMetadata[KeyEstimated]) == "true") {
			t.Errorf("%s: %s, %s", name, diff, got.ResponseMetadata)
		}
	}
}

// TestTokensAreSettled with what the vendor counts, what came if it does not, and nothing if it refused.
func TestTokensAreSettled(t *testing.T) {
	used := message.Chunk{Usage: &message.Usage{InputTokens: 400, OutputTokens: 100, TotalTokens: 500}}
	req := &model.Request{System: "You are a pudu.",
		Messages: []message.Message{message.New(message.Human, "hello there")}, Tools: []model.Tool{{Name: "look"}}}
	guess := tokens.Request(req.System, req.Tools, req.Messages)
	for name, tt := range map[string]struct {
		model played
		want  int
	}{
		"counted": {played{chunks: append(say("hi"), used)}, 500},
		"silent":  {played{chunks: say("four times four ")}, guess + 4},
		"refused": {played{err: &model.Error{Class: model.ClassBadRequest}}, 0},
		"cut":     {played{chunks: say("abcdefgh"), err: &model.Error{Class: model.ClassTransient}}, guess + 2},
		"calls": {played{chunks: []message.Chunk{{ToolCalls: []message.ToolCallChunk{{Args: `{"a":12}`}}}}}, guess +
			2},
		"thoughts": {played{chunks: []message.Chunk{{Reasoning: "hmmm"}}}, guess + 1},
	} {
		key := NewLimiter(Limits{TokensPerMinute: 10_000})
		_, _ = model.Collect((&Model{ChatModel: &tt.model, Key: key}).Stream(t.Context(), req))
		if key.minute.tokens != tt.want || key.under != 0 {
			t.Errorf("%s: %d tokens, want %d; %d under way", name, key.minute.tokens, tt.want, key.under)
		}
	}
	if guess < 10 {
		t.Errorf("the request is guessed at %d tokens", guess)
	}
}

// TestWhoWaitsForTheProcessHoldsHisKey and who gives up gives both back; he is told once, whatever he waits for.
func TestWhoWaitsForTheProcessHoldsHisKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key, all, told := NewBound(1), NewBound(1), 0
		p, _ := all.acquire(t.Context(), new(ticket), "m", 0, unheard)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		m := &Model{ChatModel: &played{chunks: say("hi")}, Key: key, All: all, Queued: func(int) { told++ }}
		if _, err := model.Collect(m.Stream(ctx, &model.Request{})); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		time.AfterFunc(3*time.Second, func() { p.done(0) })
		if _, err := model.Collect(m.Stream(t.Context(), &model.Request{})); err != nil || told != 1 ||
			key.under+all.under != 0 {
			t.Errorf("told %d times, %d and %d under way, %v", told, key.under, all.under, err)
		}
	})
}
