// Package feature names the domains that keep rows in the database. A store is opened with this list; nothing else
// needs to change for the tables of a new feature.
package feature

import (
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/feature/approval"
	"github.com/pudu-ai/pudu/internal/feature/assistants"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/feature/calls"
	"github.com/pudu-ai/pudu/internal/feature/folders"
	"github.com/pudu-ai/pudu/internal/feature/history"
	"github.com/pudu-ai/pudu/internal/feature/items"
	"github.com/pudu-ai/pudu/internal/feature/memory"
	"github.com/pudu-ai/pudu/internal/feature/models"
	"github.com/pudu-ai/pudu/internal/feature/news"
	"github.com/pudu-ai/pudu/internal/feature/runsecrets"
	"github.com/pudu-ai/pudu/internal/feature/search"
	"github.com/pudu-ai/pudu/internal/feature/session"
	"github.com/pudu-ai/pudu/internal/feature/skills"
	"github.com/pudu-ai/pudu/internal/job"
)

// All is the list of features that own tables, in the order in which a dump has them.
func All() []database.Feature {
	return []database.Feature{
		items.Feature(),
		assistants.Feature(),
		folders.Feature(),
		approval.Feature(),
		history.Feature(),
		calls.Feature(),
		audit.Feature(),
		news.Feature(),
		session.Feature(),
		models.Feature(),
		job.Feature(),
		search.Feature(),
		memory.Feature(),
		skills.Feature(),
		runsecrets.Feature(),
	}
}
