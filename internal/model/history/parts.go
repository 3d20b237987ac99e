package history

import (
	"bytes"
	"slices"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/message"
)

// clean reports whether the parts may stand in a message of that role.
func (r *Rules) clean(role message.Role, parts []message.Part) bool {
	for i := range parts {
		if !r.takes(role, &parts[i]) {
			return false
		}
	}
	return true
}

// takes reports whether a message of that role may have the part as it is.
func (r *Rules) takes(role message.Role, p *message.Part) bool {
	switch p.Type {
	case message.PartText:
		return r.Blank == BlankKept || role == message.AI || !blank(p.Text)
	case message.PartImage:
		return r.shows(role)
	case message.PartReasoning:
		return true
	case message.PartRaw:
		return role != message.AI && len(p.Raw) > 0 && r.reads(p.Raw)
	}
	return false
}

// shows reports whether a message of that role may have images.
func (r *Rules) shows(role message.Role) bool {
	switch r.Images {
	case ImagesAnywhere:
		return true
	case ImagesInResults:
		return role == message.Human || role == message.Tool
	case ImagesInUser:
		return role == message.Human
	}
	return false
}

// reads reports whether the wire knows a raw part.
func (r *Rules) reads(raw []byte) bool {
	if r.RawTypes == nil {
		return true
	}
	kind := rawMember(raw, `"type"`)
	return len(kind) > 2 && slices.ContainsFunc(r.RawTypes,
		func(known string) bool { return known == string(kind[1:len(kind)-1]) })
}

// rawMember returns the value of an object's member, nil if it has none; name is as it is written. Unlike
// [rawjson.Members] it allocates nothing.
func rawMember(raw []byte, name string) []byte {
	const between = " \t\r\n,:"
	raw = bytes.TrimPrefix(bytes.TrimSpace(raw), []byte("{"))
	for {
		key, rest := rawjson.Value(bytes.TrimLeft(raw, between))
		value, rest := rawjson.Value(bytes.TrimLeft(rest, between))
		if len(value) == 0 {
			return nil
		}
		if string(key) == name {
			return value
		}
		raw = rest
	}
}

// parts returns the parts as a message of that role may have them, and the images of a result that are to be shown
// behind it. It returns the list itself if nothing changes.
func (r *Rules) parts(role message.Role, in []message.Part) (out, later []message.Part) {
	if r.clean(role, in) {
		return in, nil
	}
	out = make([]message.Part, 0, len(in))
	for i := range in {
		p := &in[i]
		switch {
		case r.takes(role, p):
			out = append(out, *p)
		case p.Type == message.PartImage && r.Images == ImagesNowhere:
			out = append(out, unseen(p))
		case p.Type == message.PartImage && role == message.Tool:
			out, later = append(out, shownBelow(p)), append(later, *p)
		case p.Type == message.PartImage:
			out = append(out, misplaced(p))
		case p.Type == message.PartRaw && len(p.Raw) > 0:
			out = append(out, unreadable(p))
		}
	}
	return out, later
}

// hasContent reports whether there is something to see besides reasoning.
func hasContent(parts []message.Part) bool {
	return slices.ContainsFunc(parts, func(p message.Part) bool {
		return p.Type == message.PartText && !blank(p.Text) || p.Type == message.PartImage || p.Type == message.PartRaw
	})
}

// filled reports whether the content of a message, one without calls, is enough as it is.
func (r *Rules) filled(role message.Role, parts []message.Part) bool {
	return r.Blank == BlankKept || r.Blank == BlankDropped && role == message.Tool || hasContent(parts)
}

// fill returns content that is enough, or false if the message must go.
func (r *Rules) fill(role message.Role, parts []message.Part) ([]message.Part, bool) {
	if r.filled(role, parts) {
		return parts, true
	}
	if r.Blank == BlankDropped || role == message.System {
		return nil, false
	}
	text := emptyUser
	switch role {
	case message.AI:
		text = emptyAnswer
	case message.Tool:
		text = emptyResult
	}
	return append(slices.Clip(parts), message.Text(text)), true
}
