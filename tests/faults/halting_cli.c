// Takes the place of project_cli and does what it does, but stops itself at HALT_AT if it is to create
// something. Whoever has seen that can kill the server there, or let the program go on (SIGCONT). It needs no
// more than the sandbox leaves: no files, no sockets of its own, no signals to others.
//
// The places: `ready` (nothing was sent), `half` (half of the request was sent), `sent` (nothing was read),
// `answered` (nothing was printed), `printed` (it has not ended).
//
// VERSION is what project_cli prints if it is asked for its version: the server compares it.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "confine_self.h"

enum { kConnection = 3, kMost = 1 << 20 };

static char input[kMost];
static char request[kMost];
static char answer[kMost];

static char const* method;

static void halt_at(char const* place) {
  if (strcmp(method, "create") == 0 && strcmp(place, HALT_AT) == 0) raise(SIGSTOP);
}

// Until the end of the file or of the connection. The text ends with a NUL.
static void read_all(int fd, char* into) {
  size_t size = 0;
  ssize_t got;
  while (size + 1 < kMost && (got = read(fd, into + size, kMost - 1 - size)) > 0)
    size += (size_t)got;
}

static void send_all(char const* data, size_t size) {
  while (size > 0) {
    ssize_t const sent = send(kConnection, data, size, MSG_NOSIGNAL);
    if (sent < 0) exit(1);
    data += sent;
    size -= (size_t)sent;
  }
}

int main(int argc, char** argv) {
  confine_self(argv);
  if (argc == 2 && strcmp(argv[1], "--version") == 0) return fputs(VERSION "\n", stdout) < 0;
  char const* const credential = getenv("RUNNEL_TOOL_CREDENTIAL");
  if (argc < 3 || !credential) return 1;
  method = argv[2];
  read_all(STDIN_FILENO, input);
  int const size =
      snprintf(request, sizeof request,
               "POST /api/v1/tools/%s/%s HTTP/1.1\r\nHost: runnel\r\nAuthorization: Bearer %s\r\n"
               "Content-Type: application/json\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n%s",
               argv[1], method, credential, strlen(input), input);
  size_t const half = (size_t)size / 2;

  halt_at("ready");
  send_all(request, half);
  halt_at("half");
  send_all(request + half, (size_t)size - half);
  halt_at("sent");
  read_all(kConnection, answer);
  halt_at("answered");
  char const* const body = strstr(answer, "\r\n\r\n");
  if (!body || strncmp(answer, "HTTP/1.1 200", 12) != 0) return 1;
  printf("{\"ok\":true,\"module\":\"%s\",\"method\":\"%s\",\"data\":%s}\n", argv[1], method, body + 4);
  fflush(stdout);
  halt_at("printed");
  return 0;
}
