// Package view holds the view_image tool. The tool checks the image and notes its path in the thread's state; the bytes
// stay in the file, so that no checkpoint and no frame carries them. Whoever builds the next model request puts the
// image in with [ImagePart].
package view

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/pudu-ai/pudu/internal/threadstate"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/tool"
)

// MaxBytes is the size of the largest image that can be viewed.
const MaxBytes = 20 << 20

//go:embed view_image.md
var description string

type viewArgs struct {
	ImagePath string `json:"image_path" doc:"Absolute path of the image."`
}

// New returns the view_image tool for a thread's files.
func New(files *sandbox.Files) tool.Tool {
	spec := tool.Spec{Name: "view_image", Description: strings.TrimSpace(description), Effect: tool.Idempotent}
	return tool.MustNew(spec, func(_ context.Context, _ *tool.Call, in viewArgs) (*tool.Result, error) {
		return view(files, in.ImagePath), nil
	})
}

func view(files *sandbox.Files, imagePath string) *tool.Result {
	img, err := load(files, imagePath)
	if errors.Is(err, fs.ErrNotExist) {
		return tool.Error("Error: Image file not found: " + clip(imagePath))
	}
	if err != nil {
		return tool.Error("Error: " + err.Error())
	}
	res := tool.Text("Successfully read image")
	res.Summary = fmt.Sprintf("%s (%s, %d bytes)", img.path, img.mime, len(img.data))
	res.Update = threadstate.ViewedImages.Put(map[string]threadstate.ViewedImage{
		img.path: {MIMEType: img.mime, Size: int64(len(img.data)), ActualPath: img.path},
	})
	return res
}

// ImagePart reads an image, checks it as view_image does, and returns it as a part of a model request. The file may have
// changed or gone since it was viewed. The error names the virtual path and is fit to be shown.
func ImagePart(files *sandbox.Files, imagePath string) (message.Part, error) {
	img, err := load(files, imagePath)
	if err != nil {
		return message.Part{}, err
	}
	url := "data:" + img.mime + ";base64," + base64.StdEncoding.EncodeToString(img.data)
	return message.Part{Type: message.PartImage, URL: url}, nil
}

type image struct {
	path, mime string
	data       []byte
}

// types are the file name endings of images and what they must hold.
var types = map[string]string{
	".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png", ".webp": "image/webp", ".gif": "image/gif",
}

func load(files *sandbox.Files, imagePath string) (image, error) {
	clean, err := sandbox.CleanPath(imagePath)
	if err != nil || !allowed(clean) {
		return image{}, fmt.Errorf("only images below %s, %s or %s can be viewed: %s", sandbox.Workspace, sandbox.Uploads, sandbox.Outputs, clip(imagePath))
	}
	want := types[strings.ToLower(path.Ext(clean))]
	if want == "" {
		return image{}, fmt.Errorf("unsupported image format: %s. It must be jpg, jpeg, png, webp or gif; convert it first", clip(imagePath))
	}
	data, err := files.ReadFile(clean, MaxBytes)
	if err != nil {
		return image{}, err
	}
	if got := sniff(data); got != want {
		return image{}, fmt.Errorf("the content of %s does not match its ending: it is %s", clip(imagePath), orUnknown(got))
	}
	return image{clean, want, data}, nil
}

func allowed(clean string) bool {
	for _, folder := range []string{sandbox.Workspace, sandbox.Uploads, sandbox.Outputs} {
		if strings.HasPrefix(clean, folder+"/") {
			return true
		}
	}
	return false
}

// sniff tells the type by the first bytes.
func sniff(b []byte) string {
	switch {
	case bytes.HasPrefix(b, []byte("\xff\xd8\xff")):
		return "image/jpeg"
	case bytes.HasPrefix(b, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png"
	case bytes.HasPrefix(b, []byte("GIF87a")), bytes.HasPrefix(b, []byte("GIF89a")):
		return "image/gif"
	case len(b) >= 12 && string(b[:4]) == "RIFF" && string(b[8:12]) == "WEBP":
		return "image/webp"
	}
	return ""
}

func orUnknown(mime string) string {
	if mime == "" {
		return "no image that can be viewed"
	}
	return mime
}

func clip(s string) string {
	if r := []rune(s); len(r) > 500 {
		return string(r[:500]) + "..."
	}
	return s
}
