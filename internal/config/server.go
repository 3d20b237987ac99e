package config

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// DefaultAddr is where a server listens that was not told.
const DefaultAddr = "127.0.0.1:2026"

// Server says how pudu serve is reached. It comes from flags and the environment.
type Server struct {
	// Addr is HOST:PORT; port 0 chooses a free one.
	Addr string
	// Token is what callers must bring; empty asks for none.
	Token Secret
	// Origins are the web origins whose pages may call, beside the server's own.
	Origins []string
	// Proxies are the networks whose word about the address of a client, and about https, is believed.
	Proxies []netip.Prefix
	// NATS is the URL of the bus between processes that share a database; empty means that each looks for itself.
	NATS Secret
	// Webhooks are private networks whose webhooks may be called.
	Webhooks []netip.Prefix
	// Rates are how many requests of a class a user may send a minute, for the classes that are named; 0 is any number.
	Rates map[string]int
	// JSONLog writes the log as JSON instead of text.
	JSONLog bool
}

// ChooseServer returns how the server is reached: at addr (--addr), else PUDU_ADDR, else GATEWAY_HOST and GATEWAY_PORT,
// else [DefaultAddr]; with PUDU_TOKEN; for GATEWAY_CORS_ORIGINS; by nats (--nats), else PUDU_NATS; calling webhooks in
// the networks of PUDU_WEBHOOK_NETWORKS too; behind the proxies of PUDU_TRUSTED_PROXIES, else behind those of this
// machine; with PUDU_LOG_FORMAT and PUDU_RATE_LIMITS.
func (c *Config) ChooseServer(addr, nats string) (Server, error) {
	s := Server{Addr: addr, Token: Secret(strings.TrimSpace(c.Env.Get("PUDU_TOKEN"))), NATS: Secret(nats)}
	by := "--addr"
	if s.Addr == "" {
		s.Addr, by = c.Env.Get("PUDU_ADDR"), c.Env.describe("PUDU_ADDR")
	}
	if s.Addr == "" {
		host, port, _ := strings.Cut(DefaultAddr, ":")
		s.Addr, by = net.JoinHostPort(cmp.Or(c.Env.Get("GATEWAY_HOST"), host), cmp.Or(c.Env.Get("GATEWAY_PORT"), port)),
			"GATEWAY_HOST and GATEWAY_PORT"
	}
	host, port, err := net.SplitHostPort(s.Addr)
	if n, errPort := strconv.Atoi(port); err != nil || errPort != nil || n < 0 || n > 65535 {
		return s, fmt.Errorf("%s: %q is no address: write HOST:PORT, such as %s", strings.TrimSuffix(by, ": "), s.Addr,
			DefaultAddr)
	}
	if host == "" {
		s.Addr = net.JoinHostPort("0.0.0.0", port)
	}
	for _, origin := range fields(c.Env.Get("GATEWAY_CORS_ORIGINS")) {
		s.Origins = append(s.Origins, strings.TrimRight(origin, "/"))
	}
	if s.NATS == "" {
		s.NATS = Secret(strings.TrimSpace(c.Env.Get("PUDU_NATS")))
	}
	if s.Webhooks, err = c.Env.networks("PUDU_WEBHOOK_NETWORKS", ""); err != nil {
		return s, err
	}
	if s.Proxies, err = c.Env.networks("PUDU_TRUSTED_PROXIES", "127.0.0.0/8,::1/128"); err != nil {
		return s, err
	}
	if s.Rates, err = ratesOf(c.Env.Get("PUDU_RATE_LIMITS")); err != nil {
		return s, fmt.Errorf("PUDU_RATE_LIMITS: %w", err)
	}
	switch format := c.Env.Get("PUDU_LOG_FORMAT"); format {
	case "", "text":
	case "json":
		s.JSONLog = true
	default:
		return s, fmt.Errorf("PUDU_LOG_FORMAT: %.40q is neither text nor json", format)
	}
	return s, nil
}

// ratesOf reads numbers of requests a minute by their classes.
func ratesOf(text string) (map[string]int, error) {
	rates := make(map[string]int)
	for _, f := range fields(text) {
		class, number, _ := strings.Cut(f, "=")
		n, err := strconv.ParseUint(number, 10, 24)
		if err != nil || !slices.Contains([]string{"cheap", "write", "costly", "work", "stream"}, class) {
			return nil,
				fmt.Errorf("%.40q is no rate: write CLASS=REQUESTS, such as work=600, with the classes cheap, write, "+
					"costly, "+
					"work and stream, and requests a minute for each user, at most 16777215; 0 is any number", f)
		}
		rates[class] = int(n)
	}
	return rates, nil
}

// networks reads a variable that names networks, or else what stands for it.
func (e Env) networks(name, or string) (list []netip.Prefix, err error) {
	for _, text := range fields(cmp.Or(e.Get(name), or)) {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %.40q is no network: write 10.0.0.0/8, several with commas between them", name,
				text)
		}
		list = append(list, network)
	}
	return list, nil
}

// TokensFile is where the named tokens of callers stand: in PUDU_TOKENS_FILE, else in the data folder.
func (c *Config) TokensFile(dir string) string {
	return cmp.Or(c.Env.Get("PUDU_TOKENS_FILE"), filepath.Join(dir, "tokens"))
}

// fields are the parts of a list with commas or blanks between them.
func fields(text string) []string {
	return strings.FieldsFunc(text, func(c rune) bool { return c == ',' || c == ' ' })
}

// Local reports whether only programs of this machine can reach the address.
func (s Server) Local() bool {
	host, _, err := net.SplitHostPort(s.Addr)
	ip := net.ParseIP(host)
	return err == nil && (host == "localhost" || ip != nil && ip.IsLoopback())
}
