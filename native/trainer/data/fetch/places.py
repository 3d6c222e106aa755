"""Where a file lies, and who asks for it: http and https with basic authentication, S3 with signature version 4."""
import base64
import configparser
import datetime
import hashlib
import hmac
import netrc
import os
import re
import time
import urllib.parse
import urllib.request
import xml.etree.ElementTree

from common import Again, Failure, say

EMPTY_SHA256 = hashlib.sha256(b"").hexdigest()


def origin(url):
    parts = urllib.parse.urlsplit(url)
    return parts.scheme, parts.hostname, parts.port


def basic_authorization(url, env):
    """The header for http and https, or None. From the environment, else from a netrc file of mode 0600."""
    user, password = env.get("TRAINYARD_HTTP_USER"), env.get("TRAINYARD_HTTP_PASSWORD", "")
    if user is None:
        found = netrc_entry(urllib.parse.urlsplit(url).hostname, env)
        if found is None:
            return None
        user, password = found
    return "Basic " + base64.b64encode(("%s:%s" % (user, password)).encode()).decode()


def netrc_entry(host, env):
    path = env.get("NETRC") or os.path.join(os.path.expanduser("~"), ".netrc")
    try:
        info = os.stat(path)
        found = netrc.netrc(path).authenticators(host)
    except FileNotFoundError:
        return None
    except (OSError, netrc.NetrcParseError, UnicodeDecodeError) as error:
        raise Failure("%s cannot be read: %s" % (path, error), "Correct it, or name another one with NETRC")
    if found is None:
        return None
    if info.st_mode & 0o077 or info.st_uid != os.geteuid():
        raise Failure("others may read %s, which has the password for %s" % (path, host), "Run chmod 600 " + path)
    return found[0], found[2] or ""


def read_ini(path):
    parser = configparser.RawConfigParser()
    try:
        parser.read(path)
    except (configparser.Error, UnicodeDecodeError) as error:
        raise Failure("%s cannot be read: %s" % (path, str(error).replace("\n", " ")), "Correct it")
    return parser


class S3Account:
    """Key, secret, token (all None: ask without a signature), region and endpoint, as AWS's own tools find them."""

    def __init__(self, env):
        home = os.path.expanduser("~")
        profile = env.get("AWS_PROFILE") or "default"
        stored = read_ini(env.get("AWS_SHARED_CREDENTIALS_FILE") or os.path.join(home, ".aws", "credentials"))
        config = read_ini(env.get("AWS_CONFIG_FILE") or os.path.join(home, ".aws", "config"))
        section = profile if profile == "default" else "profile " + profile
        if env.get("AWS_PROFILE") and not stored.has_section(profile) and not config.has_section(section):
            raise Failure("AWS_PROFILE names %s, which ~/.aws has not" % profile, "Correct it, or run aws configure", 2)
        from_env = not env.get("AWS_PROFILE") and bool(env.get("AWS_ACCESS_KEY_ID"))

        def value(name):
            if from_env:
                return env.get(name.upper()) or None
            return stored.get(profile, name, fallback=None) or config.get(section, name, fallback=None)

        self.key = value("aws_access_key_id")
        self.secret = value("aws_secret_access_key")
        self.token = value("aws_session_token")
        named = env.get("AWS_REGION") or env.get("AWS_DEFAULT_REGION")
        self.endpoint = config.get(section, "endpoint_url", fallback=None)
        self.region = named or config.get(section, "region", fallback=None) or "us-east-1"
        if self.key and not self.secret:
            raise Failure("there is an AWS access key without its secret", "Set AWS_SECRET_ACCESS_KEY too")


def sign_v4(account, url, headers, now, method="GET", body_sha256=EMPTY_SHA256):
    """AWS Signature Version 4 of a request, for S3: all of `headers`, and those it needs, are signed.

    From "Authenticating Requests: Using the Authorization Header (AWS Signature Version 4)", Amazon S3 API Reference.
    The path of `url` stands as it will be sent. Returns the headers with Authorization.
    """
    parts = urllib.parse.urlsplit(url)
    stamp = now.strftime("%Y%m%dT%H%M%SZ")
    signed = {name.lower(): value.strip() for name, value in headers.items()}
    signed["host"] = parts.netloc
    signed["x-amz-date"] = stamp
    signed["x-amz-content-sha256"] = body_sha256
    if account.token:
        signed["x-amz-security-token"] = account.token
    names = ";".join(sorted(signed))
    pairs = sorted(
        (urllib.parse.quote(name, safe="-_.~"), urllib.parse.quote(value, safe="-_.~"))
        for name, value in urllib.parse.parse_qsl(parts.query, keep_blank_values=True)
    )
    request = [
        method,
        parts.path or "/",
        "&".join("%s=%s" % pair for pair in pairs),
        "".join("%s:%s\n" % (name, signed[name]) for name in sorted(signed)),
        names,
        body_sha256,
    ]
    scope = "%s/%s/s3/aws4_request" % (stamp[:8], account.region)
    digest = hashlib.sha256("\n".join(request).encode()).hexdigest()
    text = "\n".join(["AWS4-HMAC-SHA256", stamp, scope, digest])
    key = ("AWS4" + account.secret).encode()
    for word in (stamp[:8], account.region, "s3", "aws4_request"):
        key = hmac.new(key, word.encode(), hashlib.sha256).digest()
    signature = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
    result = {name: value for name, value in signed.items() if name != "host"}
    result["authorization"] = "AWS4-HMAC-SHA256 Credential=%s/%s,SignedHeaders=%s,Signature=%s" % (
        account.key,
        scope,
        names,
        signature,
    )
    return result


class WebPlace:
    """A file at an http or https address."""

    def __init__(self, url, env):
        parts = urllib.parse.urlsplit(url)
        if not parts.hostname:
            raise Failure("'%s' is no whole address" % url, "Write it like https://host/folder/file.tar", 2)
        if parts.username is not None or parts.password is not None:
            where = "TRAINYARD_HTTP_USER and TRAINYARD_HTTP_PASSWORD, or in ~/.netrc with mode 0600"
            raise Failure("others can see a password in the address", "Put user and password into " + where, 2)
        self.url = urllib.parse.quote(url, safe="%/:=&?~#+!$,;'@()*[]")  # blanks and letters of other alphabets
        self.shown = urllib.parse.urlunsplit(parts[:3] + ("", ""))  # a query may be a secret
        self.authorization = basic_authorization(url, env)
        self.follows = True
        if self.authorization and parts.scheme == "http" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
            say("note", text="the password goes to %s unencrypted, as the address is http" % parts.hostname)

    def request(self, headers):
        if self.authorization:
            headers = dict(headers, Authorization=self.authorization)
        return urllib.request.Request(self.url, headers=headers)

    def judge(self, code, headers, body):
        if code == 401 and self.authorization:
            raise Failure("%s refuses this user and password (HTTP 401)" % self.shown, "Correct them")
        if code == 401:
            to_do = "Set TRAINYARD_HTTP_USER and TRAINYARD_HTTP_PASSWORD, or put them into ~/.netrc"
            raise Failure("%s wants a user and a password (HTTP 401)" % self.shown, to_do)
        if code == 403:
            raise Failure("%s may not be read (HTTP 403)" % self.shown, "Ask for access, or check user and address")


class S3Server:
    """What is asked of an S3 server, by path-style addresses, which every one knows. A subclass has `shown` and `path`."""

    follows = False
    query = ""
    deed = "read"  # what is asked for

    def __init__(self, endpoint, env):
        self.account = S3Account(env)
        self.endpoint = endpoint or env.get("AWS_ENDPOINT_URL_S3") or env.get("AWS_ENDPOINT_URL") or self.account.endpoint
        if self.endpoint and not re.match(r"https?://[^/]+", self.endpoint):
            raise Failure("'%s' is no address of an S3 server" % self.endpoint, "Write it like https://host:9000", 2)

    @property
    def url(self):
        endpoint = self.endpoint or "https://s3.%s.amazonaws.com" % self.account.region
        return endpoint.rstrip("/") + "/" + self.path + self.query

    def request(self, headers, method="GET", body=None, body_sha256=EMPTY_SHA256):
        if self.account.key:
            now = datetime.datetime.fromtimestamp(time.time(), datetime.timezone.utc)
            own = {name: value for name, value in headers.items() if name == "Range"}
            headers = dict(headers, **sign_v4(self.account, self.url, own, now, method, body_sha256))
        return urllib.request.Request(self.url, data=body, headers=headers, method=method)

    def judge(self, code, headers, body):
        region = headers.get("x-amz-bucket-region")
        if code in (301, 307, 400) and region and region != self.account.region:
            self.account.region = region
            raise Again()
        said = re.search(r"<Code>([^<]*)</Code>", body)
        said = said.group(1) if said else "HTTP %d" % code
        if said == "RequestTimeTooSkewed":
            raise Failure("the clock of this machine is wrong, says the S3 server", "Set it")
        if code in (301, 307):
            to_do = "Set AWS_REGION, or --s3-endpoint to the server's address"
            raise Failure("%s lies elsewhere (%s)" % (self.shown, said), to_do)
        if code in (401, 403) and not self.account.key:
            to_do = "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or run aws configure"
            raise Failure("%s may not be %s without an account (%s)" % (self.shown, self.deed, said), to_do)
        if code in (401, 403):
            to_do = "Check key, secret and rights, and the name: a wrong one can read so too"
            raise Failure("%s may not be %s with key %s (%s)" % (self.shown, self.deed, self.account.key, said), to_do)
        if code == 404:
            raise Failure("there is no %s (%s)" % (self.shown, said), "Check bucket and name")


class S3Place(S3Server):
    """An object."""

    def __init__(self, url, endpoint, env):
        parts = re.match(r"s3://([^/]+)/(.+)$", url)
        if not parts:
            raise Failure("'%s' names no object" % url, "Write it like s3://bucket/folder/file.tar", 2)
        self.shown = url
        self.path = "/".join(urllib.parse.quote(part, safe="/-_.~") for part in parts.groups())
        S3Server.__init__(self, endpoint, env)


class S3Listing(S3Server):
    """A page of the names in a bucket that begin with `prefix` (ListObjectsV2 of the Amazon S3 API Reference)."""

    def __init__(self, bucket, prefix, endpoint, env):
        self.shown = "s3://%s/%s" % (bucket, prefix)
        self.path = urllib.parse.quote(bucket, safe="-_.~")
        self.asked = {"list-type": "2", "prefix": prefix}
        S3Server.__init__(self, endpoint, env)

    @property
    def query(self):
        return "?" + urllib.parse.urlencode(sorted(self.asked.items()), quote_via=urllib.parse.quote, safe="-_.~")

    def page(self, body):
        """(key, bytes, ETag) of each object of an answer. `asked` then has the next page; False after the last one."""
        try:
            top = xml.etree.ElementTree.fromstring(body)
        except xml.etree.ElementTree.ParseError as error:
            raise Failure("%s: the server's list cannot be read (%s)" % (self.shown, error), "Check the server's address")
        space = top.tag[:top.tag.index("}") + 1] if top.tag.startswith("{") else ""
        found = [
            (entry.findtext(space + "Key"), int(entry.findtext(space + "Size")), entry.findtext(space + "ETag"))
            for entry in top.findall(space + "Contents")
        ]
        token = top.findtext(space + "NextContinuationToken")
        if token:
            self.asked["continuation-token"] = token
        return found, bool(token)


class Redirects(urllib.request.HTTPRedirectHandler):
    """Takes the password to no other place than it is meant for, and never from https to http."""

    http_error_308 = urllib.request.HTTPRedirectHandler.http_error_302

    def __init__(self, allowed):
        self.allowed = allowed

    def redirect_request(self, req, fp, code, msg, headers, newurl):
        if not self.allowed:
            return None
        # Python before 3.11 does not know 308, which differs from 307 in nothing that matters here.
        new = super().redirect_request(req, fp, 307 if code == 308 else code, msg, headers, newurl)
        if new is not None and origin(newurl) != origin(req.full_url):
            if urllib.parse.urlsplit(req.full_url).scheme == "https" and not newurl.startswith("https:"):
                shown = req.full_url.split("?")[0]
                raise Failure("%s leads to an unencrypted address" % shown, "Name that one yourself")
            new.headers.pop("Authorization", None)
        return new
