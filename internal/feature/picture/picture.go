// Package picture makes an image file fit for a language model and keeps the result. What comes of a file, its
// rendering, is smaller than what vendors accept, holds pixels alone (no metadata, no second format hidden behind the
// first), and is kept in the thread's outputs under the hash of its bytes. A conversation names it by a [Ref]; so what
// a model was shown once can be sent again and again, byte for byte, whatever becomes of the file.
package picture

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"

	"github.com/pudu-ai/pudu/sandbox"
)

const (
	// MaxFile bounds the file of an image, in bytes.
	MaxFile = 20 << 20
	// MaxPixels bounds what is decoded: a small file can hold a picture that fills the memory.
	MaxPixels = 40_000_000
	// MaxEdge bounds the longer side of a rendering, in pixels. Vendors scale down what is larger themselves.
	MaxEdge = 1568
	// MaxArea bounds width times height.
	MaxArea = 1_150_000
	// Folder holds the renderings of a thread.
	Folder = sandbox.Outputs + "/.viewed-images"
)

// Keys of additional_kwargs.
const (
	// KeyRef holds the [Ref] of the image that a tool message tells of.
	KeyRef = "viewed_image"
	// KeyRefs holds the list of those that a message shows.
	KeyRefs = "viewed_images"
)

// Types of image files.
const (
	PNG  = "image/png"
	JPEG = "image/jpeg"
	GIF  = "image/gif"
	WebP = "image/webp"
)

// ErrGone says that a kept rendering is not there any more, or is not what it was.
var ErrGone = errors.New("the rendering of the image is gone")

// Ref names a rendering, and the file of which it was made.
type Ref struct {
	// Path is the file as the agent knows it; FromWidth and FromHeight are its size in pixels.
	Path       string `json:"path"`
	FromWidth  int    `json:"from_width"`
	FromHeight int    `json:"from_height"`
	// SHA256 is the hash of the rendering's bytes in hex, MIMEType PNG or JPEG, Width and Height its size in pixels.
	SHA256   string `json:"sha256"`
	MIMEType string `json:"mime_type"`
	Width    int    `json:"width"`
	Height   int    `json:"height"`
}

var hash = regexp.MustCompile(`^[0-9a-f]{64}$`)

// file is where the rendering is kept. A ref that was not made here has none.
func (r Ref) file() (string, error) {
	endings := map[string]string{PNG: ".png", JPEG: ".jpg"}
	ending := endings[r.MIMEType]
	if ending == "" || !hash.MatchString(r.SHA256) {
		return "", fmt.Errorf("%w: it has no valid reference", ErrGone)
	}
	return Folder + "/" + r.SHA256 + ending, nil
}

// Sniff tells the type of an image by its first bytes; empty means none of those above.
func Sniff(b []byte) string {
	switch {
	case bytes.HasPrefix(b, []byte("\xff\xd8\xff")):
		return JPEG
	case bytes.HasPrefix(b, []byte("\x89PNG\r\n\x1a\n")):
		return PNG
	case bytes.HasPrefix(b, []byte("GIF87a")), bytes.HasPrefix(b, []byte("GIF89a")):
		return GIF
	case len(b) >= 12 && string(b[:4]) == "RIFF" && string(b[8:12]) == "WEBP":
		return WebP
	}
	return ""
}
