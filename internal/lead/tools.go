package lead

import (
	"github.com/pudu-ai/pudu/internal/tools/clarify"
	"github.com/pudu-ai/pudu/internal/tools/file"
	"github.com/pudu-ai/pudu/internal/tools/present"
	"github.com/pudu-ai/pudu/internal/tools/shell"
	"github.com/pudu-ai/pudu/internal/tools/view"
	"github.com/pudu-ai/pudu/tool"
)
