package pudu

import (
	"net/http"
	"net/netip"

	"github.com/pudu-ai/pudu/internal/app"
	"github.com/pudu-ai/pudu/internal/gateway"
)

// Server says who may call [Pudu.Handler]. The zero value answers requests to localhost alone, of programs and of its
// own pages, so that no web page of another site reaches it.
type Server struct {
	// Token is asked for as "Authorization: Bearer TOKEN" or "X-Api-Key: TOKEN"; empty asks for none.
	Token string
	// Open answers whoever reaches the handler by whatever name: for a program that finds out itself who calls. Whoever
	// gets through has the agent run code.
	Open bool
	// Origins are web origins, such as "https://app.example.org", whose pages may call beside the server's own; "*" is
	// every page.
	Origins []string
	// Webhooks are private networks whose webhooks may be called. Public addresses always may.
	Webhooks []netip.Prefix
}

// Handler is the whole server, as "pudu serve" has it: every route of docs/api.md, below "/". To put it below another
// path use [http.StripPrefix].
//
// With the first call this process begins to do a server's work: it goes on with the runs that a crash or the last
// Close cut off, starts those that wait, calls webhooks, and does jobs. That ends with [Pudu.Close]. Shut the HTTP
// server down before it, with a bound: streams end with Close. Runs by [Pudu.Run] and by the handler may be of the same
// threads. Bounds of connections, such as [http.Server.ReadHeaderTimeout], are those of the program.
func (p *Pudu) Handler() http.Handler {
	s := p.server
	return p.local.Handler(app.Door{Guard: gateway.Guard{Token: s.Token, Open: s.Open, Origins: s.Origins},
		Webhooks: s.Webhooks})
}
