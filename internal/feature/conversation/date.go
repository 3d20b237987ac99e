package conversation

import (
	"encoding/json"
	"time"

	"github.com/pudu-ai/pudu/message"
)

// Keys of additional_kwargs of a message that tells the model the date.
const (
	KeyReminder     = "dynamic_context_reminder"
	KeyReminderDate = "reminder_date"
)

// dayFormat is a day as a date message tells it.
const dayFormat = "2006-01-02, Monday"

// Day is t's day as a date message tells it, in t's zone.
func Day(t time.Time) string { return t.Format(dayFormat) }

// DateMessage makes the message that tells the model what day it is. day is what [Day] returned.
func DateMessage(id, day string) message.Message {
	m := message.New(message.System, DateText(day))
	quoted, _ := json.Marshal(day)
	m.Kwargs = message.Fields{
		message.KeyHidden: json.RawMessage("true"),
		KeyReminder:       json.RawMessage("true"),
		KeyReminderDate:   quoted,
	}
	m.ID = IDFor(m, id)
	return m
}

// DateText is what a date message says of a day.
func DateText(day string) string {
	return "<system-reminder>\n<current_date>" + day + "</current_date>\n</system-reminder>"
}

// DateOf returns the day that a date message tells, and whether the message is one. Only a true day counts, and the
// message's own text does not: who makes use of it writes [DateText] anew.
func DateOf(m message.Message) (day string, ok bool) {
	raw, ok := m.Kwargs[KeyReminderDate]
	if !ok || m.Role != message.System || string(m.Kwargs[KeyReminder]) != "true" || json.Unmarshal(raw, &day) != nil {
		return "", false
	}
	t, err := time.Parse(dayFormat, day)
	if err != nil || Day(t) != day {
		return "", false
	}
	return day, true
}
