package memory

import (
	"regexp"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/message"
)

// turn is what one side of a conversation said.
type turn struct {
	ID    string
	Human bool
	// Text is what was said, Own what a human wrote himself of it: without what he has pasted.
	Text, Own string
}

// Bounds of what is read at once: the newest messages, and of each the beginning and the end, in bytes.
const (
	maxTurns    = 60
	maxTurn     = 1000
	signalTurns = 6
)

// turnsOf are those of a conversation that may have something to remember: what humans said and the answers to it,
// without what tools brought, what the program wrote, mere thanks, and files that came without a word.
func turnsOf(msgs []message.Message) (out []turn) {
	skip := false // the answer to what was left out
	for _, m := range msgs {
		switch {
		case conversation.IsUser(m):
			text := said(m)
			skip = text == "" || trivial.MatchString(text)
			if !skip {
				out = append(out, turn{ID: m.ID, Human: true, Text: text, Own: own(text)})
			}
		case m.Role == message.AI && !m.AsksForTools() && !conversation.Hidden(m):
			if text := strings.TrimSpace(thoughts.ReplaceAllString(m.Text(), "")); text != "" && !skip {
				out = append(out, turn{ID: m.ID, Text: text})
			}
		}
	}
	return out[max(0, len(out)-maxTurns):]
}

// blocks are what the program, or DeerFlow's, has put in front of a message.
var blocks = regexp.MustCompile(`(?is)<(uploaded_files|current_uploads)>.*?(</(uploaded_files|current_uploads)>|\z)`)

// said is what the user wrote.
func said(m message.Message) string {
	return strings.TrimSpace(blocks.ReplaceAllString(conversation.OwnText(m), ""))
}

// trivial are words that say nothing.
var trivial = regexp.MustCompile(`(?i)^\s*(ok(ay|ey)?|k|yes|yep|yeah|no|nope|sure|fine|great|good|nice|perfect|cool|` +
	`thanks?|thank you|thx|ty|got it|` +
	`understood|continue|go on|go ahead|next|hi|hello|hey|bye|good ?bye|done|right|please do|好(的|吧|啊|呀|嘞)?|谢谢(你|您)?|` +
	`多谢|感谢|嗯+|哦+|噢|行|可以|` +
	`是(的|啊)?|对(的|啊)?|不(是|用|了)?|没事|收到|明白(了)?|知道了|了解|继续|下一步|你好|您好|再见|没问题|辛苦了)(\s*[,，]?\s*(thanks?|thank you|` +
	`谢谢))?[\s.!?。！？~～,，]*$`)

// What a human has pasted: fenced text, quotations, forwarded mail, markup, and what looks like the words of a program.
var (
	fenced    = regexp.MustCompile("(?s)(```|~~~).*?(```|~~~|\\z)")
	quoted    = regexp.MustCompile(`(?m)^[ \t]*(>|\|).*$`)
	forwarded = regexp.MustCompile(`(?is)(^|\n)[ \t]*-{2,}\s*(original message|forwarded message|begin|start|转发|` +
		`原始邮件)[^\n]*\n.*|` +
		`(^|\n)(from|发件人)\s*[:：][^\n]*\n\s*(sent|date|to|subject|发送时间|收件人|主题)\s*[:：].*`)
	markup = regexp.MustCompile(`(?is)<([a-z][a-z0-9_-]*)[^>]*>.*?</[a-z][a-z0-9_-]*\s*>`)
)

// maxOwn is how much of one paragraph counts as written by hand, in bytes: longer ones are pasted.
const maxOwn = 1200

// own is what the user wrote by hand of a message, as far as one can tell.
func own(text string) string {
	for _, re := range []*regexp.Regexp{fenced, forwarded, markup, quoted} {
		text = re.ReplaceAllString(text, "\n")
	}
	paragraphs := strings.Split(text, "\n\n")
	paragraphs = slices.DeleteFunc(paragraphs, func(p string) bool { return len(p) > maxOwn })
	return strings.TrimSpace(strings.Join(paragraphs, "\n\n"))
}

// shortened is the beginning and the end of a long text.
func shortened(s string) string {
	if len(s) <= maxTurn {
		return s
	}
	return cut(s, maxTurn/2) + " … " + strings.ToValidUTF8(s[len(s)-maxTurn/2:], "")
}

// unread are the messages behind those that were read, by the ids of the last of them; all if none of these is there
// any more.
func unread(msgs []message.Message, read []string) []message.Message {
	for i, m := range slices.Backward(msgs) {
		if slices.Contains(read, m.ID) {
			return msgs[i+1:]
		}
	}
	return msgs
}
