// A program whose web page the tests of `open` look at.

/**
 * A program in Python that serves a page. It prints the page's address a moment after its start, as
 * Jupyter does, with another one before. The page says which rank it is, and asks for a token.
 */
export const servedPage = `
import http.server, os, time
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/lab?token=s3" else 403)
        self.end_headers()
        self.wfile.write(os.environ["RANK"].encode())
    def log_message(self, *words):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
time.sleep(1)
print("docs: https://example.org/ http://localhost:1/", flush=True)
print("open http://127.0.0.1:%d/lab?token=s3." % server.server_port, flush=True)
server.serve_forever()
`;
