"""What examples/fills.py uses of websocket-client, over the standard library: for machines without that package."""

import base64
import os
import socket
import urllib.parse


class WebSocketException(Exception):
    pass


class WebSocketTimeoutException(WebSocketException):
    pass


class WebSocketBadStatusException(WebSocketException):
    def __init__(self, status_code):
        super().__init__(f"Handshake status {status_code}")
        self.status_code = status_code


class ABNF:
    OPCODE_CLOSE = 8


TEXT, CLOSE, PING, PONG = 1, 8, 9, 10


class WebSocket:
    def __init__(self, url, timeout):
        place = urllib.parse.urlsplit(url)
        self._buffer = b""
        self._socket = socket.create_connection((place.hostname, place.port), timeout)
        key = base64.b64encode(os.urandom(16)).decode()
        head = f"GET {place.path}?{place.query} HTTP/1.1\r\nHost: {place.netloc}\r\nConnection: Upgrade\r\n"
        self._socket.sendall(f"{head}Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n".encode())
        while b"\r\n\r\n" not in self._buffer:
            self._read()
        answer, self._buffer = self._buffer.split(b"\r\n\r\n", 1)
        status = int(answer.split(b" ")[1])
        if status != 101:
            raise WebSocketBadStatusException(status)

    def settimeout(self, seconds):
        self._socket.settimeout(seconds)

    def _read(self):
        try:
            more = self._socket.recv(65536)
        except socket.timeout:
            raise WebSocketTimeoutException("timed out") from None
        if not more:
            raise WebSocketException("the connection ended")
        self._buffer += more

    def _send(self, opcode, payload):
        mask = os.urandom(4)
        size = len(payload)
        length = bytes([0x80 | size]) if size < 126 else b"\xfe" + size.to_bytes(2, "big")
        masked = bytes(byte ^ mask[at % 4] for at, byte in enumerate(payload))
        self._socket.sendall(bytes([0x80 | opcode]) + length + mask + masked)

    def send(self, text):
        self._send(TEXT, text.encode())

    def _frame(self):
        """The next whole frame; what has come of it stays in the buffer when the time is up."""
        while True:
            if len(self._buffer) >= 10 or (len(self._buffer) >= 2 and self._buffer[1] < 126):
                short = self._buffer[1]
                start = 2 if short < 126 else 4 if short == 126 else 10
                size = short if short < 126 else int.from_bytes(self._buffer[2:start], "big")
                if len(self._buffer) >= start + size:
                    opcode, payload = self._buffer[0] & 15, self._buffer[start : start + size]
                    self._buffer = self._buffer[start + size :]
                    return opcode, payload
            self._read()

    def recv_data(self):
        opcode, payload = self._frame()
        if opcode == PING:
            self._send(PONG, payload)
        if opcode == CLOSE:
            self._send(CLOSE, payload)
        return self.recv_data() if opcode in (PING, PONG) else (opcode, payload)

    def close(self):
        self._socket.close()


create_connection = WebSocket
