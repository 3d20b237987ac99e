"""Tests of the tests: the proxy and the comparison of streams, against small servers of their own."""

import http.server
import json
import random
import threading
import warnings

from base import AGENT, Case, check_stream, get_sync_client, unittest
from proxy import Cutting

TOTAL = 60


def streaming(shift):
    """A server with one run; shift moves the place where it resumes, so that it loses or repeats events."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            self.rfile.read(int(self.headers["content-length"] or 0))
            self.do_GET()

        def do_GET(self):
            after = self.headers.get("last-event-id") or "-1"
            first = 0 if after == "-1" else int(after.split("-")[1]) + 1 + shift
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("location", "/threads/t/runs/r/stream")
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            try:
                for n in range(first, TOTAL):
                    self.frame(n)
                self.wfile.write(b"0\r\n\r\n")
            except OSError:
                pass

        def frame(self, n):
            event = "metadata" if n == 0 else "end" if n == TOTAL - 1 else "values"
            data = {"run_id": "r"} if n == 0 else None if n == TOTAL - 1 else {"n": n, "text": "ä€🦌" * (n % 7)}
            raw = f"event: {event}\ndata: {json.dumps(data)}\nid: 1-{n}\n\n".encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(raw), raw))

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def read(shift, cuts):
    server = streaming(shift)
    url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        with Cutting(url, cuts) as proxy, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with get_sync_client(url=proxy.url, api_key=None) as c:
                frames = list(c.runs.stream("t", AGENT, input={}))
            with get_sync_client(url=url, api_key=None) as c:
                return frames, list(c.runs.join_stream("t", "r", last_event_id="-1")), proxy.cut
    finally:
        server.shutdown()
        server.server_close()


class Self(Case):
    def test_no_cut(self):
        frames, want, cut = read(0, [])
        self.assertEqual((len(frames), cut), (TOTAL, 0))
        check_stream(want)
        self.same_frames(frames, want)

    def test_a_good_server_passes(self):
        pick = random.Random(7)
        for cuts in [[0], [1], [1500, 700], [pick.randrange(3800)], [pick.randrange(3800)]]:
            frames, want, cut = read(0, cuts)
            self.assertEqual(cut, len(cuts))
            self.same_frames(frames, want)

    def test_lost_and_repeated_events_are_found(self):
        for shift in (1, -1):
            frames, want, cut = read(shift, [1500])
            self.assertEqual(cut, 1)
            with self.assertRaises(AssertionError):
                self.same_frames(frames, want)


if __name__ == "__main__":
    unittest.main()
