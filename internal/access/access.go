// Package access says who asks. An edge makes a [Principal] once of what it knows of its caller: the gateway's guard of
// a request, the command line of the account that it is called from. What belongs to a user is reached only through a
// value that is bound to the principal's [User], such as a store.UserData; a value that is bound to nobody refuses with
// [ErrNoUser].
//
//	caller -> guard -> Principal -> store.For(User) -> that user's threads, runs, items, assistants
package access

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// ErrNoUser refuses work for the zero [User].
var ErrNoUser = errors.New("no user is named")

// User is whose something is. The zero value is nobody.
type User struct{ id string }

// Default is the one user of an installation without accounts.
func Default() User { return User{"default"} }

// FromRow is the user that a row of the store names. An id that a client sends is no row: a client's user comes from
// its [Principal].
func FromRow(id string) User { return User{id} }

// ID is the id that rows keep; empty for nobody.
func (u User) ID() string { return u.id }

// Check returns [ErrNoUser] for nobody.
func (u User) Check() error {
	if u.id == "" {
		return ErrNoUser
	}
	return nil
}

// Role is what a principal may do.
type Role string

// The roles; each may do what those before it may.
const (
	Viewer  Role = "viewer" // looks at what is its user's
	Regular Role = "user"   // changes it, and starts runs
	Admin   Role = "admin"  // runs the installation
)

// Principal is who asks, as far as an edge has made sure of it.
type Principal struct {
	User User
	Role Role
	// Scopes narrow the role; nil is all that it may do.
	Scopes []string
	// Via is how it came in, for people: "loopback", "token ci", "cli".
	Via string
	// Token is the name of the token that it came with, or that its session began with; empty if it has none.
	Token string
	// Session is the id of the session that it came by, empty for none, and Until when that ends.
	Session string
	Until   time.Time
}

// May returns nil if the principal has a role, or one that may do more, and a scope; else what is missing.
func (p Principal) May(role Role, scope string) error {
	roles := []Role{Viewer, Regular, Admin}
	has, needs := slices.Index(roles, p.Role), slices.Index(roles, role)
	switch {
	case needs < 0:
		return fmt.Errorf("there is no role %q", role)
	case has < needs:
		return fmt.Errorf("this needs the role %s; the caller's is %s", role, cmp.Or(p.Role, "none"))
	case p.Scopes != nil && !slices.Contains(p.Scopes, scope):
		return fmt.Errorf("this needs the scope %s, which the caller's token does not have", scope)
	}
	return nil
}
