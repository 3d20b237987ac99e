package wire

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/model"
)

// Bounds of what is kept of a failure.
const (
	maxErrorBody = 64 << 10
	maxMessage   = 2000
)

// Origin says whose failures these are.
type Origin struct {
	// Provider and Model are named in every error.
	Provider, Model string
	// Secrets are cut out of every error text: a provider may echo the key.
	Secrets []string
	// Now is the clock for Retry-After dates; nil means time.Now.
	Now func() time.Time
	// Refine, if there is one, corrects an error by what the vendor says in its own way in body, which is the answer of
	// an error status or the error object of a stream.
	Refine func(e *model.Error, body []byte)
}

// Error makes a failure of this origin. The text is bounded and free of secrets.
func (o *Origin) Error(class model.Class, cause error, format string, args ...any) *model.Error {
	text := format
	if len(args) > 0 {
		text = fmt.Sprintf(format, args...)
	}
	return &model.Error{Class: class, Provider: o.Provider, Model: o.Model, Message: o.clean(text), Err: cause}
}

func (o *Origin) clean(text string) string {
	for _, s := range o.Secrets {
		if len(s) >= 4 {
			text = strings.ReplaceAll(text, s, "***")
		}
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= maxMessage {
		return text
	}
	cut := maxMessage
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut]
}

// Failure turns an error of the transport into the context's error, if the context has ended, or a [model.Error].
// The address is left out of the text, since it may hold a key.
func (o *Origin) Failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if known := model.AsError(err); known != nil {
		return err
	}
	var cert *tls.CertificateVerificationError
	var addr *url.Error
	switch {
	case errors.Is(err, ErrIdle):
		return o.Error(model.ClassTransient, ErrIdle, "the server sent nothing within the idle time-out")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return o.Error(model.ClassTransient, io.ErrUnexpectedEOF, "the connection was cut in the middle of the answer")
	case errors.As(err, &cert):
		return o.Error(model.ClassBadRequest, cert,
			"check certificate: %v; if it is one of your own authority, name its file in SSL_CERT_FILE", cert.Err)
	case errors.As(err, &addr):
		err = addr.Err
	}
	return o.Error(model.ClassTransient, scrubbed{o.clean(err.Error()), err}, "%v", err)
}

// scrubbed is a cause whose text holds no secret.
type scrubbed struct {
	text string
	err  error
}

func (s scrubbed) Error() string        { return s.text }
func (s scrubbed) Is(target error) bool { return errors.Is(s.err, target) }

func (o *Origin) badAddress() error {
	return o.Error(model.ClassBadRequest, nil, "base_url is not a valid address; give it as https://host/path")
}

// Check accepts an answer with a 2xx status that is not a web page. Otherwise it reads at most 64 KiB of the body,
// closes it and returns what went wrong.
func (o *Origin) Check(resp *http.Response) error {
	html := strings.HasPrefix(strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Type"))), "text/html")
	ok := resp.StatusCode >= 200 && resp.StatusCode < 300
	if ok && !html {
		return nil
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	if ok {
		return o.WebPage(resp.StatusCode)
	}
	return o.HTTPError(resp.StatusCode, resp.Header, body)
}

// WebPage is the failure of an answer that is HTML where an API was expected.
func (o *Origin) WebPage(status int) error {
	e := o.Error(model.ClassBadRequest, nil, "the answer is a web page, not an API's; check base_url")
	e.Status = status
	return e
}

// HTTPError makes the error of an answer with an error status.
func (o *Origin) HTTPError(status int, header http.Header, body []byte) *model.Error {
	d := ParseDetail(body)
	d.Message = cmp.Or(d.Message, strings.ToLower(http.StatusText(status)))
	if status >= 300 && status < 400 {
		d.Message = "the address redirects elsewhere; set base_url to the final address"
	}
	e := o.Error(Classify(status, d), nil, "%s", d.Message)
	e.Status, e.Code = status, o.clean(d.Code)
	e.RetryAfter = RetryAfter(header, o.now())
	return o.refined(e, body)
}

// StreamError makes the error of an error object that came inside a stream whose status was 200.
func (o *Origin) StreamError(object []byte) *model.Error {
	d := ParseDetail(object)
	d.Message = cmp.Or(d.Message, "the provider reported an error in the stream")
	e := o.Error(Classify(0, d), nil, "%s", d.Message)
	e.Code = o.clean(d.Code)
	return o.refined(e, object)
}

func (o *Origin) refined(e *model.Error, body []byte) *model.Error {
	if o.Refine != nil {
		o.Refine(e, body)
		e.Code = o.clean(e.Code)
	}
	return e
}

func (o *Origin) now() time.Time {
	if o.Now != nil {
		return o.Now()
	}
	return time.Now()
}
