package items

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/pudu-ai/pudu/internal/database"
)

// separator stands before each label of a stored namespace, and behind the last.
const separator = '\x01'

func joinLabels(labels []string) string {
	if len(labels) == 0 {
		return ""
	}
	return string(separator) + strings.Join(labels, string(separator)) + string(separator)
}

func splitLabels(joined string) []string {
	return strings.Split(strings.Trim(joined, string(separator)), string(separator))
}

func checkItem(namespace []string, key string) error {
	err := errors.Join(database.CheckText("key", key), checkLabels("namespace", namespace))
	if key == "" {
		err = errors.Join(err, errors.New("key is empty"))
	}
	return err
}

func checkTTL(ttl time.Duration) error {
	if ttl < 0 || ttl > 0 && ttl < time.Microsecond || ttl > maxTTL {
		return fmt.Errorf("time to live %v is not between a microsecond and 100 years", ttl)
	}
	return nil
}

// checkNow refuses a read without its moment, to which nothing would be over.
func checkNow(now time.Time) error {
	if now.IsZero() {
		return errors.New("the moment of the read is missing")
	}
	return nil
}

// checkLabels refuses what is no namespace, nor a part of one.
func checkLabels(what string, labels []string) error {
	if len(labels) == 0 || len(labels) > maxLabels {
		return fmt.Errorf("%s has %d labels and may have 1 to %d", what, len(labels), maxLabels)
	}
	for _, l := range labels {
		if l == "" || len(l) > maxLabel || strings.ContainsRune(l, '.') || strings.ContainsFunc(l, unicode.IsControl) ||
			database.CheckText("label", l) != nil {
			return fmt.Errorf("label %.40q of %s is not 1 to %d bytes of UTF-8 without a dot or a control character", l,
				what, maxLabel)
		}
	}
	return nil
}
