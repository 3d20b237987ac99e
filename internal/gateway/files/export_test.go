package files

// What the tests look at inside.
type UploadAnswer = uploadAnswer

const (
	FormFields   = formFields
	FormOverhead = formOverhead
	MaxAlike     = maxAlike
	MaxEdit      = maxEdit
	MaxMember    = maxMember
	MaxName      = maxName
	MaxSkill     = maxSkill
)

var (
	Active      = active
	Numbered    = numbered
	UploadError = uploadError
	UploadName  = uploadName
	UploadPath  = uploadPath
	Within      = within
)
