package app_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// readMail prints the subject and the parts of a mail, a line each.
func readMail(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: mail FILE")
	}
	f, err := os.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	defer f.Close()
	m, err := mail.ReadMessage(f)
	ts.Check(err)
	subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	ts.Check(err)
	fmt.Fprintf(ts.Stdout(), "subject %s\n", subject)
	ts.Check(readPart(ts.Stdout(), m.Header.Get("Content-Type"), m.Header.Get("Content-Transfer-Encoding"), m.Body))
}

func readPart(to io.Writer, kind, encoding string, body io.Reader) error {
	kind, params, err := mime.ParseMediaType(kind)
	if err != nil {
		return err
	}
	if strings.HasPrefix(kind, "multipart/") {
		for r := multipart.NewReader(body, params["boundary"]); ; {
			p, err := r.NextRawPart()
			if err == io.EOF {
				return nil
			}
			if err == nil {
				err = readPart(to, p.Header.Get("Content-Type"), p.Header.Get("Content-Transfer-Encoding"), p)
			}
			if err != nil {
				return err
			}
		}
	}
	switch encoding {
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, body)
	case "quoted-printable":
		body = quotedprintable.NewReader(body)
	}
	raw, err := io.ReadAll(body)
	if strings.HasPrefix(kind, "text/") {
		fmt.Fprintf(to, "%s %s\n", kind, strings.Join(strings.Fields(string(raw)), " "))
	} else {
		fmt.Fprintf(to, "%s %d bytes\n", kind, len(raw))
	}
	return err
}
