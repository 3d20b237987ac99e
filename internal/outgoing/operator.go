package outgoing

import (
	"net"
	"net/http"
)

// Operator is a client of addresses that the operator has named, such as his index of packages. They may be of a
// private network, and the proxies that the environment names are used (HTTP_PROXY, HTTPS_PROXY, NO_PROXY). What a
// user, a model or a web page has named is never called by it.
func Operator(p Profile) *http.Client {
	dialer := &net.Dialer{Timeout: connectTimeout}
	g := &Guard{transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, TLSHandshakeTimeout: connectTimeout,
		MaxIdleConns: maxIdle, IdleConnTimeout: idleTimeout, ResponseHeaderTimeout: headTimeout,
		MaxResponseHeaderBytes: maxHeader, ForceAttemptHTTP2: true,
	}}
	return g.Client(p)
}
