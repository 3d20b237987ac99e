package probe

import (
	"bytes"
	"context"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"strings"

	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// The picture: two halves of one colour each, large enough for vendors that refuse tiny ones. Who guesses is right once
// in twelve times.
const (
	pictureSize = 128
	leftColour  = "green"
	rightColour = "red"
)

// otherColours are those that are offered beside the right ones.
func otherColours() []string { return []string{"blue", "yellow"} }

// picture is the PNG as a data: URL.
func picture() string {
	img := image.NewPaletted(image.Rect(0, 0, pictureSize, pictureSize), color.Palette{
		color.RGBA{G: 160, A: 255}, color.RGBA{R: 220, A: 255},
	})
	for y := range pictureSize {
		for x := pictureSize / 2; x < pictureSize; x++ {
			img.SetColorIndex(x, y, 1)
		}
	}
	var b bytes.Buffer
	_ = png.Encode(&b, img) // into memory, of a valid image
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes())
}

func (p *prober) image(ctx context.Context) finding {
	m := human("The left half of this picture has one colour and the right half another, out of blue, green, red and " +
		"yellow. Answer with the two words, the left one first.")
	m.Content = append(m.Content, message.Part{Type: message.PartImage, URL: picture()})
	a, err := p.call(ctx, model.Request{Messages: []message.Message{m}}, shortRoom)
	declared := p.cfg.Declared.Vision
	switch {
	case err != nil && !refused(err) && !aboutImages(err):
		f := lost(err)
		if !declared && !hopeless(err) {
			f.outcome = NotApplicable
		}
		return f
	case err == nil && sees(a.Text()):
		if !declared {
			p.option("supports_vision", true, "it named both colours of a picture")
		}
		return pass("named both colours of a picture")
	}
	detail := "does not see: it said " + quote(a.Text())
	if err != nil {
		detail = "takes no pictures: " + describe(err)
	}
	if !declared {
		return none("%s", detail)
	}
	p.option("supports_vision", false, "it did not see a picture")
	return fail("%s", detail)
}

// aboutImages reports an error that is about the picture although its class is another: servers without vision answer
// 500.
func aboutImages(err error) bool {
	e := model.AsError(err)
	return e != nil && mentions(e, "image", "vision", "multimodal", "mmproj")
}

// sees reports whether a text names both colours in their order, and no other.
func sees(text string) bool {
	text = strings.ToLower(text)
	for _, c := range otherColours() {
		if strings.Contains(text, c) {
			return false
		}
	}
	left, right := strings.Index(text, leftColour), strings.Index(text, rightColour)
	return left >= 0 && right > left
}
