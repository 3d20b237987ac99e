package gateway

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/internal/feature/session"
	"github.com/pudu-ai/pudu/internal/gateway/route"
)

// Guard says who may call, until there are accounts.
//
// Without a token only this machine's own programs may: the server listens on loopback, the Host of a request must
// be a name of loopback, so that no web page reaches it by a name of its own (DNS rebinding), and a request that a web
// page sends must come from a page of this server or of one of Origins.
type Guard struct {
	// Token is asked for as "Authorization: Bearer TOKEN" or "X-Api-Key: TOKEN"; empty asks for none.
	Token string
	// Named are further tokens, each with a name, which come and go while the server runs; nil is none.
	Named Tokens
	// Open lets everybody in who reaches the address.
	Open bool
	// Origins are web origins, as https://host:port, whose pages may call; "*" is every page.
	Origins []string
	// Proxies are the networks whose X-Forwarded-For and X-Forwarded-Proto are believed.
	Proxies []netip.Prefix
}

// Tokens are the tokens that have a name. It is a bearer.File.
type Tokens interface {
	// Required reports whether callers must bring a token.
	Required() bool
	// Name returns the name of a token; false if it is none of them.
	Name(token string) (string, bool)
	// Sum is the SHA-256 of the token of a name; false if there is none.
	Sum(name string) (sum session.Sum, ok bool)
}

// admit reports whether the request may go on, and answers it if not, or if it only asks whether it may. asks is
// [Guard.asks]; anywhere lets pages of all origins in.
func (g Guard) admit(w http.ResponseWriter, r *http.Request, asks, anywhere bool) bool {
	origin := r.Header.Get("Origin")
	foreign := origin != "" && !sameHost(origin, r.Host) && !anywhere
	if !anywhere && origin == "" && r.Header.Get("Sec-Fetch-Site") == "cross-site" &&
		r.Header.Get("Sec-Fetch-Mode") != "navigate" {
		return refuse(w, http.StatusForbidden, "Pages of other sites may not load this")
	}
	if foreign {
		if !slices.Contains(g.Origins, origin) && !slices.Contains(g.Origins, "*") {
			return refuse(w, http.StatusForbidden, "Pages of "+route.Clip(origin)+
				" may not call this server; name them in GATEWAY_CORS_ORIGINS")
		}
		allowOrigin(w.Header(), origin)
		if r.Method == http.MethodOptions {
			allowRequest(w.Header(), r)
			w.WriteHeader(http.StatusNoContent)
			return false
		}
	}
	if !g.Open && !asks && !loopback(r.Host) {
		return refuse(w, http.StatusForbidden, "This server answers to localhost alone, not to "+route.Clip(r.Host))
	}
	return true
}

func refuse(w http.ResponseWriter, status int, why string) bool {
	_ = route.Reply(w, status, map[string]string{"detail": why})
	return false
}

// asks reports whether callers must bring a token.
func (g Guard) asks() bool { return g.Token != "" || g.Named != nil && g.Named.Required() }

// knows reports whether the request has a token that is good, and its name; [Guard.Token] has none.
func (g Guard) knows(r *http.Request) (name string, ok bool) {
	given := tokenOf(r)
	if g.Token != "" && subtle.ConstantTimeCompare([]byte(given), []byte(g.Token)) == 1 {
		return "", true
	}
	if g.Named == nil {
		return "", false
	}
	return g.Named.Name(given)
}

// sum is the SHA-256 of the token of a name, as long as that is good.
func (g Guard) sum(name string) (sum session.Sum, ok bool) {
	switch {
	case name == "":
		return sha256.Sum256([]byte(g.Token)), g.Token != ""
	case g.Named == nil:
		return sum, false
	}
	return g.Named.Sum(name)
}

// ownPage reports whether a request comes from a page of this server, or of an origin that is named. A browser says so
// of each request that changes something. A page of another port of this machine, or of another name below the same
// domain, is none, although the browser sends the cookie with its requests.
func (g Guard) ownPage(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return r.Header.Get("Sec-Fetch-Site") == "same-origin"
	}
	return slices.Contains(g.Origins, origin) ||
		sameHost(origin, r.Host) && (!g.secure(r) || strings.HasPrefix(origin, "https://"))
}

// secure reports whether the client sent the request by https.
func (g Guard) secure(r *http.Request) bool {
	return r.TLS != nil || g.proxy(route.From(r)) && strings.EqualFold(last(r.Header.Values("X-Forwarded-Proto")),
		"https")
}

// client is the address that a request comes from, behind the proxies.
func (g Guard) client(r *http.Request) string {
	at := route.From(r)
	if !g.proxy(at) {
		return at
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		addr, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil {
			return at
		}
		if at = addr.Unmap().String(); !g.proxy(at) {
			return at
		}
	}
	return at
}

func (g Guard) proxy(at string) bool {
	addr, err := netip.ParseAddr(at)
	return err == nil && slices.ContainsFunc(g.Proxies, func(p netip.Prefix) bool { return p.Contains(addr.Unmap()) })
}

// last is the last value of a list in a header: that of the nearest proxy.
func last(values []string) string {
	list := strings.Split(strings.Join(values, ","), ",")
	return strings.TrimSpace(list[len(list)-1])
}

// tokenOf is the token that the request brings; empty if it brings none.
func tokenOf(r *http.Request) string {
	if scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(token)
	}
	return r.Header.Get("X-Api-Key")
}

// sameHost reports whether an origin is the server's own, as the client names it.
func sameHost(origin, host string) bool {
	u, err := url.Parse(origin)
	return err == nil && strings.EqualFold(u.Host, host)
}

// loopback reports whether a Host header names this machine's own address.
func loopback(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.Trim(name, "[]"))
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	ip := net.ParseIP(name)
	return ip != nil && ip.IsLoopback()
}

func allowOrigin(h http.Header, origin string) {
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Allow-Credentials", "true")
	h.Set("Access-Control-Expose-Headers", "Content-Location, Location, X-Pagination-Total, X-Pagination-Next")
	h.Add("Vary", "Origin")
}

func allowRequest(h http.Header, r *http.Request) {
	h.Set("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE")
	if asked := r.Header.Get("Access-Control-Request-Headers"); asked != "" {
		h.Set("Access-Control-Allow-Headers", asked)
	}
	h.Set("Access-Control-Max-Age", "600")
}
