package secrets

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
)

// SignatureSize is how long a signature is, in bytes.
const SignatureSize = 16

// Sign makes a signature of a text for a purpose, by which this installation knows what it has handed out. The first
// one ever makes the key.
func (s *Secrets) Sign(purpose string, text []byte) ([]byte, error) {
	return s.sign(purpose, text, true)
}

// Signed reports whether a signature is that of a text for a purpose. Without a key nothing was signed.
func (s *Secrets) Signed(purpose string, text, signature []byte) bool {
	want, err := s.sign(purpose, text, false)
	return err == nil && hmac.Equal(want, signature)
}

func (s *Secrets) sign(purpose string, text []byte, mayMake bool) ([]byte, error) {
	key, err := s.load(mayMake)
	if err != nil {
		return nil, err
	}
	own, err := hkdf.Key(sha256.New, key, nil, "pudu signatures of "+purpose, keySize)
	if err != nil {
		return nil, err
	}
	mac := hmac.New(sha256.New, own)
	mac.Write(text)
	return mac.Sum(nil)[:SignatureSize], nil
}
