package files

import (
	"bytes"
	"errors"
	"io"
	"path"
	"strings"
	"unicode/utf8"
)

// mediaTypes are the types of files by the extension. The list is ours, as that of the host's system would make one
// server show what another one runs. What is not here is plain text or bytes, by its content.
var mediaTypes = map[string]string{
	".csv": "text/csv", ".tsv": "text/tab-separated-values", ".txt": "text/plain", ".log": "text/plain",
	".md": "text/markdown", ".markdown": "text/markdown", ".css": "text/css", ".js": "text/javascript",
	".mjs": "text/javascript", ".py": "text/x-python", ".ics": "text/calendar", ".vtt": "text/vtt",
	".json": "application/json", ".jsonl": "application/jsonl", ".ipynb": "application/x-ipynb+json",
	".yaml": "application/yaml", ".yml": "application/yaml", ".toml": "application/toml",
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp",
	".avif": "image/avif", ".bmp": "image/bmp", ".ico": "image/vnd.microsoft.icon", ".tif": "image/tiff",
	".tiff": "image/tiff", ".heic": "image/heic", ".mp3": "audio/mpeg", ".wav": "audio/wav", ".ogg": "audio/ogg",
	".oga": "audio/ogg", ".opus": "audio/ogg", ".m4a": "audio/mp4", ".flac": "audio/flac", ".aac": "audio/aac",
	".weba": "audio/webm", ".mp4": "video/mp4", ".m4v": "video/mp4", ".webm": "video/webm", ".mov": "video/quicktime",
	".ogv": "video/ogg", ".avi": "video/x-msvideo", ".mkv": "video/x-matroska",
	".pdf": "application/pdf", ".zip": "application/zip", ".gz": "application/gzip", ".tgz": "application/gzip",
	".tar": "application/x-tar", ".7z": "application/x-7z-compressed", ".epub": "application/epub+zip",
	".wasm": "application/wasm",
	".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
	".doc":  "application/msword", ".xls": "application/vnd.ms-excel", ".ppt": "application/vnd.ms-powerpoint",
	".odt": "application/vnd.oasis.opendocument.text", ".ods": "application/vnd.oasis.opendocument.spreadsheet",
	".ttf": "font/ttf", ".otf": "font/otf", ".woff": "font/woff", ".woff2": "font/woff2",
	".html": "text/html", ".htm": "text/html", ".shtml": "text/html", ".xhtml": "application/xhtml+xml",
	".xht": "application/xhtml+xml", ".svg": "image/svg+xml", ".xml": "application/xml", ".xsl": "application/xml",
	".xslt": "application/xslt+xml", ".rss": "application/rss+xml", ".atom": "application/atom+xml",
	".mht": "multipart/related", ".mhtml": "multipart/related",
}

// active reports whether a browser that shows a file of this type may run scripts that are in it.
func active(mediaType string) bool {
	kind, _, _ := strings.Cut(mediaType, ";")
	return kind == "text/html" || kind == "application/xml" || kind == "multipart/related" ||
		strings.HasSuffix(kind, "+xml")
}

// mediaType is the type of a file by its name, or else by how its content begins.
func mediaType(name string, content io.ReaderAt) (string, error) {
	kind, known := mediaTypes[strings.ToLower(path.Ext(name))]
	if !known {
		head := make([]byte, 8<<10)
		n, err := content.ReadAt(head, 0)
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		if kind = "application/octet-stream"; isText(head[:n], n == len(head)) {
			kind = "text/plain"
		}
	}
	if strings.HasPrefix(kind, "text/") {
		kind += "; charset=utf-8"
	}
	return kind, nil
}

// isText reports whether the beginning of a file is text. If it is cut, which only a long one is, its last character
// may be.
func isText(head []byte, cut bool) bool {
	for i := 1; cut && i < utf8.UTFMax; i++ {
		if last := head[len(head)-i:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				head = head[:len(head)-i]
			}
			break
		}
	}
	return utf8.Valid(head) && !bytes.ContainsRune(head, 0)
}
