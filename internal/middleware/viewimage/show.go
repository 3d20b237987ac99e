package viewimage

import (
	"context"
	"maps"
	"slices"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/picture"
	"github.com/pudu-ai/pudu/message"
)

// outOfSight stands in the place of an image that is not sent any more.
const outOfSight = "[This image is out of sight now. Call view_image to see it again.]"

// WrapModelCall implements [agent.ModelCallWrapper]: it sends each note with its images. A rendering that is gone is
// remembered with the answer, so that its place keeps the text.
func (m *Middleware) WrapModelCall(ctx context.Context, req *agent.ModelRequest,
	next agent.ModelHandler) (*agent.ModelResponse, error) {
	if !slices.ContainsFunc(req.Messages, isNote) {
		return next(ctx, req)
	}
	gone := unseen.Get(req.State)
	changed := *req
	changed.Messages = slices.Clone(req.Messages)
	lost := make(map[string][]int)
	for i, msg := range changed.Messages {
		refs := noted(msg)
		if len(refs) == 0 {
			continue
		}
		content, missing := m.show(refs, gone[msg.ID])
		changed.Messages[i].Content = append(slices.Clip(msg.Content), content...)
		if len(missing) > 0 {
			lost[msg.ID] = slices.Concat(gone[msg.ID], missing)
		}
	}
	resp, err := next(ctx, &changed)
	if err != nil || len(lost) == 0 {
		return resp, err
	}
	all := make(map[string][]int, len(gone)+len(lost))
	maps.Copy(all, gone)
	maps.Copy(all, lost)
	answer := *resp
	answer.Update = slices.Clip(resp.Update).With(unseen.Put(all))
	return &answer, nil
}

// isNote reports whether this middleware wrote the message: the mark is dropped from what clients send.
func isNote(m message.Message) bool {
	return m.Role == message.Human && m.Name == NoteName && string(m.Kwargs[NoteName]) == "true"
}

// show returns a part for each image, and which of them should have been there and were not.
func (m *Middleware) show(refs []picture.Ref, gone []int) (parts []message.Part, missing []int) {
	for i, ref := range refs {
		if !slices.Contains(gone, i) {
			url, err := m.cfg.Album.URL(m.cfg.Files, ref)
			if err == nil {
				parts = append(parts, message.Part{Type: message.PartImage, URL: url})
				continue
			}
			missing = append(missing, i)
		}
		parts = append(parts, message.Text(outOfSight))
	}
	return parts, missing
}
