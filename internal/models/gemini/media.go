package gemini

import (
	"net/url"
	"path"
	"strings"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/model/wire"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// mimeTypes are those of files that the API takes, by the end of their name. An address says nothing else about it.
var mimeTypes = map[string]string{
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp", ".gif": "image/gif",
	".heic": "image/heic", ".heif": "image/heif", ".pdf": "application/pdf", ".txt": "text/plain",
	".mp3": "audio/mp3", ".wav": "audio/wav", ".flac": "audio/flac", ".ogg": "audio/ogg",
	".mp4": "video/mp4", ".mov": "video/mov", ".webm": "video/webm",
}

// media is the part for an image, a file or a block of another kind.
func (m *Model) media(p *message.Part) ([]byte, error) {
	if p.Type == message.PartImage {
		return m.address(p.URL, "")
	}
	block, _ := rawjson.Members(p.Raw)
	field := func(names ...string) string {
		for _, name := range names {
			if s, ok := rawjson.String(block[name]); ok && s != "" {
				return s
			}
		}
		return ""
	}
	kind, mime := field("type"), field("mime_type")
	switch data, at := field("base64", "data"), field("url", "file_uri"); {
	case kind == "" && (block["inlineData"] != nil || block["fileData"] != nil):
		return p.Raw, nil // the vendor's own
	case data != "" && mime != "":
		return inline(mime, data), nil
	case at != "":
		return m.address(at, mime)
	}
	return append(appendText(nil, "[A part of type \""+kind+"\" was left out: this model cannot take it.]"), '}'), nil
}

// address takes a data: URL with base64 content, or an address that the API fetches itself.
func (m *Model) address(at, mime string) ([]byte, error) {
	if rest, isData := strings.CutPrefix(at, "data:"); isData {
		kind, data, ok := strings.Cut(rest, ";base64,")
		if !ok {
			return nil, m.client.Error(model.ClassBadRequest, nil,
				"an image's data: URL has no base64 content; give it as data:image/png;base64,...")
		}
		return inline(kind, data), nil
	}
	if u, err := url.Parse(at); err == nil && mime == "" {
		mime = mimeTypes[strings.ToLower(path.Ext(u.Path))]
	}
	b := []byte(`{"fileData":{`)
	if mime != "" {
		b = rawjson.AppendString(wire.AppendKey(b, "mimeType"), mime)
	}
	return append(rawjson.AppendString(wire.AppendKey(b, "fileUri"), at), "}}"...), nil
}

func inline(mime, data string) []byte {
	b := rawjson.AppendString([]byte(`{"inlineData":{"mimeType":`), mime)
	return append(rawjson.AppendString(wire.AppendKey(b, "data"), data), "}}"...)
}
