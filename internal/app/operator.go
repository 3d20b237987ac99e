package app

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/client"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/gateway/route"
)

// operator is who works for the installation, by a way in.
func operator(via string) access.Principal { return access.Principal{Role: access.Admin, Via: via} }

// withOperator is what answers the user of this machine, who alone can open the socket in the data folder: the gateway,
// and what the commands of the operator ask for. The audit log says that he did it.
func (e *engine) withOperator(next http.Handler, by access.Principal) *http.ServeMux {
	mux := http.NewServeMux()
	mux.Handle("/", next)
	mux.HandleFunc("POST "+client.ReloadPath, func(w http.ResponseWriter, r *http.Request) {
		notes, restart, err := e.told(r.Context(), by.Via)
		reply(w, client.Reloaded{Notes: notes, Restart: restart}, err)
	})
	mux.HandleFunc("DELETE "+client.UserPath+"{user}", func(w http.ResponseWriter, r *http.Request) {
		user := access.FromRow(r.PathValue("user"))
		f, err := e.deleteUser(context.WithoutCancel(r.Context()), user) // to the end, however long it takes
		if err == nil {
			e.audit.Record(r.Context(), audit.Of(by, audit.Delete, "user", user.ID()))
		}
		reply(w, client.Deleted{Threads: f.Threads, Rows: f.Rows}, err)
	})
	mux.HandleFunc("POST "+client.AuditPath, func(w http.ResponseWriter, r *http.Request) {
		var d client.Done
		const most = 4 << 10
		err := json.NewDecoder(http.MaxBytesReader(w, r.Body, most)).Decode(&d)
		if err == nil {
			e.audit.Record(r.Context(), audit.Of(by, audit.Verb(d.Verb), d.Kind, d.Object))
		}
		reply(w, struct{}{}, err)
	})
	return mux
}

// reply answers a command.
func reply(w http.ResponseWriter, answer any, err error) {
	status := http.StatusOK
	if err != nil {
		status, answer = http.StatusUnprocessableEntity, map[string]string{"detail": err.Error()}
	}
	_ = route.Reply(w, status, answer) // all answers can be encoded
}
