package nats

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strconv"
	"strings"

	"github.com/pudu-ai/pudu/internal/bus"
)

// Config says which servers carry the bus.
type Config struct {
	// URL is nats://[user:password@]host[:port], or tls:// for an encrypted connection; a token stands in the place of
	// the user. Several servers of one cluster are separated by commas. Required.
	URL string
	// Name is what the server's monitoring calls this process; empty means "pudu".
	Name string
	// Prefix stands before every subject on the server, so that several installations can share it; empty means "pudu".
	Prefix string
	// TLS is used when a URL or the server asks for encryption; nil means the system's certificates.
	TLS *tls.Config
	// Logger is told when the connection is lost and when it is back; nil means slog.Default().
	Logger *slog.Logger
}

func (c Config) withDefaults() Config {
	c.Name = cmp.Or(c.Name, "pudu")
	if c.Prefix == "" {
		c.Prefix = "pudu"
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c
}

// servers returns the URLs and, to be shown, their hosts.
func (c Config) servers() (urls, hosts []string, err error) {
	if err := bus.CheckSubject(c.Prefix); err != nil {
		return nil, nil, fmt.Errorf("check prefix of NATS subjects: %w", err)
	}
	for part := range strings.SplitSeq(c.URL, ",") {
		part = strings.TrimSpace(part)
		host, err := checkURL(part)
		if err != nil {
			return nil, nil, fmt.Errorf("read NATS URL %d of %d: %w", len(urls)+1, strings.Count(c.URL, ",")+1, err)
		}
		urls, hosts = append(urls, part), append(hosts, host)
	}
	return urls, hosts, nil
}

// checkURL returns the host. Its errors quote nothing: a password may stand anywhere in what cannot be read.
func checkURL(s string) (host string, err error) {
	const remedy = "write nats://user:password@host:port or tls://..., with % and two hexadecimal digits for other " +
		"characters " +
		"than letters and digits in the user and the password (%2C for a comma)"
	u, err := url.Parse(s)
	switch {
	case s == "":
		return "", errors.New("it is empty; " + remedy)
	case err != nil:
		return "", errors.New("it is no URL; " + remedy)
	case u.Scheme != "nats" && u.Scheme != "tls":
		return "", errors.New("it begins neither with nats:// nor with tls://; " + remedy)
	case u.Hostname() == "" || !goodPort(u.Port()):
		return "", errors.New("it has no host, or no such port can be; " + remedy)
	case strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "":
		return "", errors.New("something follows the host and port; " + remedy)
	}
	return u.Host, nil
}

// goodPort reports whether the port is a number that a port can have, or missing: then it is 4222.
func goodPort(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return port == "" || err == nil && n > 0
}
