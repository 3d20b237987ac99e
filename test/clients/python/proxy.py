"""A TCP proxy that cuts connections: connection n is cut after cuts[n] bytes of the body of its response."""

import socket
import struct
import threading
from urllib.parse import urlsplit


class Cutting:
    """cuts may be shorter than the list of connections; the later ones are left alone. A cut is a reset."""

    def __init__(self, target, cuts):
        to = urlsplit(target)
        self.target = (to.hostname, to.port)
        self.cuts = list(cuts)
        self.made = 0
        self.cut = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.open = []
        threading.Thread(target=self.accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for s in [self.listener, *self.open]:
            shut(s)

    def accept(self):
        while True:
            try:
                down, _ = self.listener.accept()
            except OSError:
                return
            limit = self.cuts[self.made] if self.made < len(self.cuts) else None
            self.made += 1
            try:
                up = socket.create_connection(self.target)
            except OSError:
                down.close()
                continue
            self.open += [down, up]
            threading.Thread(target=pump, args=(down, up), daemon=True).start()
            threading.Thread(target=self.back, args=(up, down, limit), daemon=True).start()

    def back(self, up, down, limit):
        """Passes a response on until limit bytes of its body have gone through."""
        head, in_body, sent = b"", False, 0
        try:
            while chunk := up.recv(65536):
                if not in_body:
                    head += chunk
                    end = head.find(b"\r\n\r\n")
                    if end < 0:
                        continue
                    in_body = True
                    down.sendall(head[: end + 4])
                    chunk = head[end + 4 :]
                if limit is not None and sent + len(chunk) >= limit:
                    down.sendall(chunk[: limit - sent])
                    self.cut += 1
                    down.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    break
                sent += len(chunk)
                down.sendall(chunk)
        except OSError:
            pass
        shut(up)
        shut(down)


def pump(source, to):
    try:
        while chunk := source.recv(65536):
            to.sendall(chunk)
        to.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def shut(s):
    """Closes a socket that another thread may be reading: that reader must let go of it first."""
    try:
        s.shutdown(socket.SHUT_RD)
    except OSError:
        pass
    try:
        s.close()
    except OSError:
        pass
