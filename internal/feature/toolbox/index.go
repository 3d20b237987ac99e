package toolbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"golang.org/x/net/html"
)

const (
	// maxPage bounds a page of the index, which lists every file that a package ever had.
	maxPage     = 32 << 20
	pageTimeout = 2 * time.Minute
	pageTypes   = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"
)

// locate asks the index where a file of a package is.
func (b *Box) locate(ctx context.Context, pkg, file string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	at := b.cfg.Index + "/" + pkg + "/"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return "", err
	}
	req.Header.Set("Accept", pageTypes)
	res, err := b.cfg.HTTP.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return "", statusError{at, res.StatusCode}
	}
	page, err := io.ReadAll(io.LimitReader(res.Body, maxPage+1))
	if err != nil {
		return "", err
	}
	if len(page) > maxPage {
		return "", fmt.Errorf("%s: the page has more than %d bytes", at, maxPage)
	}
	return findLink(page, res.Header.Get("Content-Type"), res.Request.URL, file)
}

// findLink looks for a file on a page of an index (PEP 503, PEP 691), whose links may be relative to the page.
func findLink(page []byte, kind string, base *url.URL, file string) (string, error) {
	links := htmlLinks
	if strings.Contains(kind, "json") {
		links = jsonLinks
	}
	list, err := links(page)
	if err != nil {
		return "", fmt.Errorf("%s: read the page of the index: %w", base.Redacted(), err)
	}
	for _, link := range list {
		u, err := base.Parse(link)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || path.Base(u.Path) != file {
			continue
		}
		u.Fragment, u.RawFragment = "", ""
		return u.String(), nil
	}
	return "", fmt.Errorf("%s: %w: %s", base.Redacted(), errNotListed, file)
}

var errNotListed = errors.New("the index does not have the file")

func jsonLinks(page []byte) (links []string, err error) {
	var p struct {
		Files []struct{ URL string }
	}
	err = json.Unmarshal(page, &p)
	for _, f := range p.Files {
		links = append(links, f.URL)
	}
	return links, err
}

func htmlLinks(page []byte) (links []string, err error) {
	for z := html.NewTokenizer(bytes.NewReader(page)); ; {
		switch z.Next() {
		case html.ErrorToken:
			if z.Err() != io.EOF {
				err = z.Err()
			}
			return links, err
		case html.StartTagToken:
			name, more := z.TagName()
			for isLink := string(name) == "a"; more; {
				var key, value []byte
				if key, value, more = z.TagAttr(); isLink && string(key) == "href" {
					links = append(links, string(value))
				}
			}
		}
	}
}

// statusError is an answer that is none.
type statusError struct {
	at   string
	code int
}

// Error implements error.
func (e statusError) Error() string {
	return fmt.Sprintf("%s: the answer is %d %s", e.at, e.code, http.StatusText(e.code))
}
