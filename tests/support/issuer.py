"""An external issuer of tokens: a key pair made by openssl, and JWTs that it signs. Forged JWTs can be made, too."""

import base64
import hashlib
import hmac
import json
import subprocess
import time
from pathlib import Path


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def jwt(header: dict, claims: dict, sign) -> str:
    """`sign` takes the text and returns the bytes of the signature."""
    text = f"{b64(json.dumps(header).encode())}.{b64(json.dumps(claims).encode())}"
    return f"{text}.{b64(sign(text.encode()))}"


def hs256(secret: bytes):
    return lambda text: hmac.new(secret, text, hashlib.sha256).digest()


def _der_to_pair(der: bytes) -> bytes:
    """An ECDSA signature in the form of JWTs: both numbers, 32 bytes each."""
    numbers, at = b"", 2
    for _ in range(2):
        length = der[at + 1]
        numbers += der[at + 2:at + 2 + length].lstrip(b"\0").rjust(32, b"\0")
        at += 2 + length
    return numbers


class Issuer:
    """The algorithm is RS256 or ES256."""

    def __init__(self, directory: Path, algorithm: str = "RS256", kid: str = "main"):
        self.algorithm, self.kid = algorithm, kid
        self.private = directory / f"{kid}.key.pem"
        self.public = directory / f"{kid}.pem"
        kind = ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"] if algorithm == "RS256" else \
            ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]
        self._openssl("genpkey", *kind, "-out", str(self.private))
        self._openssl("pkey", "-in", str(self.private), "-pubout", "-out", str(self.public))
        self.public.chmod(0o644)

    @staticmethod
    def _openssl(*args: str, data: bytes = b"") -> bytes:
        return subprocess.run(["openssl", *args], input=data, capture_output=True, check=True, timeout=60).stdout

    def sign(self, text: bytes) -> bytes:
        signature = self._openssl("dgst", "-sha256", "-sign", str(self.private), data=text)
        return _der_to_pair(signature) if self.algorithm == "ES256" else signature

    def claims(self, user: str, **changes) -> dict:
        now = int(time.time())
        return {"iss": "https://id.example", "aud": "runnel", "sub": user, "iat": now, "exp": now + 600} | changes

    def token(self, user: str, **changes) -> str:
        return jwt({"alg": self.algorithm, "typ": "JWT", "kid": self.kid}, self.claims(user, **changes), self.sign)

    def settings(self) -> dict:
        """The server's settings for this issuer."""
        return {"algorithm": self.algorithm, "issuer": "https://id.example", "audience": "runnel",
                "keys": f"{self.kid}={self.public}"}
