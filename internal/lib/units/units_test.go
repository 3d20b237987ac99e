package units

import "testing"

func TestFigures(t *testing.T) {
	for want, got := range map[string]string{
		"0": Short(0), "7": Short(7), "1.25": Short(1.25), "12.3": Short(12.34), "1234": Short(1234.4),
		"2.50x":   Times(2.5),
		"3.50 ns": Seconds(3.5e-9), "41.5 µs": Seconds(41.5e-6), "1.20 ms": Seconds(1.2e-3), "2.07 s": Seconds(2.07),
		"512 B": Bytes(512), "1.50 KiB": Bytes(1536), "38 MiB": Bytes(38 << 20),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
