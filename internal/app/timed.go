package app

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// timed is a model whose calls may take only so long, from the request to the last chunk: the key "timeout" of its
// entry. Silence within a call is bounded by the provider.
type timed struct {
	model.ChatModel

	most time.Duration
}

// within bounds the calls of a model; 0 is no bound.
func within(most time.Duration, m model.ChatModel) model.ChatModel {
	if most <= 0 {
		return m
	}
	return timed{m, most}
}

// errTooLong is the cause when a call has taken too long.
var errTooLong = errors.New("the call took longer than its timeout")

// Stream implements [model.ChatModel].
func (t timed) Stream(ctx context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	return func(yield func(message.Chunk, error) bool) {
		inner, cancel := context.WithTimeoutCause(ctx, t.most, errTooLong)
		defer cancel()
		for c, err := range t.ChatModel.Stream(inner, req) {
			if err != nil && ctx.Err() == nil && context.Cause(inner) == errTooLong {
				err = t.tooLong()
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

func (t timed) tooLong() error {
	provider, id, _ := strings.Cut(t.Name(), "/")
	return &model.Error{
		Class: model.ClassTransient, Provider: provider, Model: id, Err: errTooLong,
		Message: fmt.Sprintf("no complete answer within %s: raise the model's timeout in the configuration", t.most),
	}
}
