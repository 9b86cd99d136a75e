"""Which addresses a model may have, and that TLS is verified."""

import datetime as dt
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from shared.adapters import endpoint
from shared.adapters.attempts import Passing
from shared.adapters.endpoint import Endpoint, allowed
from shared.learning.model import ModelDown, ModelRefused, ModelTimeout

ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


@pytest.mark.parametrize(
    "url",
    [
        "https://model.example.com/v1",
        "https://10.0.0.7:8000/v1",
        "http://127.0.0.1:11434/v1",
        "http://127.8.9.1",
        "http://localhost:8000/v1",
        "http://[::1]:8000/v1",
        "HTTP://LOCALHOST/v1",
    ],
)
def test_https_and_this_machine_may_be_asked(url: str) -> None:
    assert allowed(urlsplit(url))


@pytest.mark.parametrize(
    "url",
    [
        "",
        "model.example.com/v1",
        "ftp://127.0.0.1/v1",
        "file:///etc/passwd",
        "http://model.example.com/v1",
        "http://10.0.0.7/v1",
        "http://169.254.169.254/latest",
        "http://127.0.0.1.example.com/v1",
        "http://localhost.example.com/v1",
        "https:///v1",
        "https://user:word@model.example.com/v1",
        "https://model.example.com/v1?key=1",
        "https://model.example.com/v1#x",
        "https://model.example.com:port/v1",
    ],
)
def test_nothing_else_may(url: str) -> None:
    assert not allowed(urlsplit(url))
    with pytest.raises(ModelRefused):
        Endpoint(url).post("/x", b"", {}, 1.0)


def test_a_name_that_cannot_be_a_hosts_is_a_model_that_is_down() -> None:
    with pytest.raises(Passing) as caught:
        Endpoint(f"https://{'a' * 64}.invalid/v1").post("/x", b"", {}, 1.0)

    assert isinstance(caught.value.problem, ModelDown)


class TlsServer:
    """Answers one request after another over TLS, with a certificate for localhost that only `authority` vouches for."""

    def __init__(self, folder: Path) -> None:
        self.authority = folder / "authority.pem"
        private = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
        now = dt.datetime.now(dt.UTC)
        certificate = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(private.public_key())
            .serial_number(1)
            .not_valid_before(now - dt.timedelta(days=1))
            .not_valid_after(now + dt.timedelta(days=1))
            .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(private, hashes.SHA256())
        )
        pem = certificate.public_bytes(serialization.Encoding.PEM)
        self.authority.write_bytes(pem)
        chain = folder / "chain.pem"
        form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        chain.write_bytes(private.private_bytes(*form) + pem)
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(chain)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.received: list[bytes] = []
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                plain, _ = self._listener.accept()
            except OSError:
                return
            with plain:
                try:
                    with self._context.wrap_socket(plain, server_side=True) as secure:
                        request = secure.recv(65_536)
                        # head and body may come apart, and closing on unread bytes resets
                        while not request.endswith(b"{}"):
                            request += secure.recv(65_536)
                        self.received.append(request)
                        secure.sendall(ANSWER)
                except OSError:
                    continue

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(10)


@pytest.fixture
def tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TlsServer]:
    server = TlsServer(tmp_path)
    endpoint._trust.cache_clear()
    yield server
    endpoint._trust.cache_clear()
    server.close()


def test_a_certificate_that_nobody_vouches_for_gets_no_request(tls: TlsServer) -> None:
    with pytest.raises(Passing):
        Endpoint(f"https://localhost:{tls.port}/v1").post("/x", b"{}", {}, 5.0)

    assert tls.received == []


def test_an_authority_of_the_system_is_trusted(tls: TlsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tls.authority))

    assert Endpoint(f"https://localhost:{tls.port}/v1").post("/x", b"{}", {}, 5.0).body == b"ok"
    assert tls.received[0].startswith(b"POST /v1/x HTTP/1.1\r\n")


def test_a_certificate_for_another_name_gets_no_request(tls: TlsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tls.authority))
    with pytest.raises(Passing):
        Endpoint(f"https://127.0.0.1:{tls.port}/v1").post("/x", b"{}", {}, 5.0)

    assert tls.received == []


def test_plain_words_spoken_to_a_tls_client_are_a_model_that_is_down() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            peer, _ = listener.accept()
            with peer:
                peer.recv(100)
                peer.sendall(ANSWER)

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(Passing):
            Endpoint(f"https://127.0.0.1:{listener.getsockname()[1]}").post("/x", b"{}", {}, 5.0)
        thread.join(10)


def test_a_handshake_that_never_ends_is_a_model_that_is_down() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, pytest.raises(Passing):
        Endpoint(f"https://127.0.0.1:{listener.getsockname()[1]}").post("/x", b"{}", {}, 0.5)


def test_time_that_connecting_used_up_is_not_given_to_the_answer() -> None:
    with endpoint._Watch(0.0) as watch, socket.socket() as free:
        assert watch._late.wait(10)
        with pytest.raises(TimeoutError):
            watch.over(free)


def test_a_peer_that_takes_nothing_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        with pytest.raises(ModelTimeout):
            Endpoint(f"http://127.0.0.1:{listener.getsockname()[1]}").post("/x", b"a" * 30_000_000, {}, 0.5)
