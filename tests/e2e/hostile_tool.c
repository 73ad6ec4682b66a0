// Stands in the place of project_cli and misbehaves as the title in its input says. tests/e2e/tool_case.py
// builds it. Do not start it by hand: what it tries is harmless only in the sandbox.

#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "confine_self.h"

#define CREDENTIAL "RUNNEL_TOOL_CREDENTIAL"

enum { kConnection = 3, kMost = 1 << 17, kPaths = 512 };

static char input[kMost];
static char const* module = "";
static char const* method = "";

static void send_text(int descriptor, char const* text, size_t size) {
  while (size > 0) {
    ssize_t const wrote = write(descriptor, text, size);
    if (wrote < 0) _exit(7);
    text += wrote;
    size -= (size_t)wrote;
  }
}

static void say(char const* text) {
  send_text(STDOUT_FILENO, text, strlen(text));
}

static void complain(char const* text) {
  send_text(STDERR_FILENO, text, strlen(text));
}

// The text of a member of the input, without any unescaping. Empty if there is none.
static char const* member(char const* name) {
  static char out[4][kMost];
  static int next = 0;
  char* const text = out[next++ % 4];
  char opening[64];
  snprintf(opening, sizeof opening, "\"%s\":\"", name);
  char const* const at = strstr(input, opening);
  text[0] = '\0';
  if (at != NULL) {
    char const* const begin = at + strlen(opening);
    size_t const size = strcspn(begin, "\"");
    memcpy(text, begin, size);
    text[size] = '\0';
  }
  return text;
}

static void begin(char const* ok) {
  printf("{\"ok\":%s,\"module\":\"%s\",\"method\":\"%s\",", ok, module, method);
}

static int end(void) {
  printf("}\n");
  return fflush(stdout);
}

// --- What the sandbox must refuse.

static void tell(char const* what, long done) {
  printf(",\"%s\":\"%s\"", what, done == -1 ? strerrorname_np(errno) : "done");
}

static void try_reading(char const* what, char const* path) {
  tell(what, open(path, O_RDONLY));
}

static void try_process_files(char const* whose, int pid) {
  static char const* const names[] = {"environ", "mem", "maps", "cmdline", "fd/0"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
    char path[kPaths];
    char what[kPaths];
    snprintf(path, sizeof path, "/proc/%d/%s", pid, names[i]);
    snprintf(what, sizeof what, "read %s of %s", names[i], whose);
    try_reading(what, path);
  }
}

// What is started lives on, so that a test finds it.
static long fork_often(void) {
  long forked = -1;
  for (int i = 0; i < 1000 && forked == -1; ++i)
    forked = fork();
  if (forked == 0) pause();
  return forked;
}

static void try_processes(void) {
  tell("fork 1000 times", fork_often());
  tell("clone", syscall(SYS_clone, 0xffffffff, 0, 0, 0, 0));  // Allowed, this would be EINVAL.
  tell("clone3", syscall(SYS_clone3, NULL, 0));
  tell("setsid", setsid());
  tell("setpgid", setpgid(0, 0));
  tell("outlive the server", prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0));
  tell("signal the server", kill(getppid(), 0));
  tell("signal everybody", kill(-1, 0));
  tell("trace a process", ptrace(9999, 0, NULL, NULL));  // The same.
  char* const shell[] = {"/bin/sh", "-c", "echo started", NULL};
  tell("exec a shell", execv(shell[0], shell));
}

// The location is the path of the server's database.
static void try_files(void) {
  char const* const database = member("location");
  char path[kPaths];
  try_reading("read passwd", "/etc/passwd");
  try_reading("read the database", database);
  try_reading("read a program", "/bin/sh");
  tell("list the root", opendir("/") == NULL ? -1 : 0);
  tell("write the database", open(database, O_WRONLY));
  tell("write into tmp", open("/tmp/runnel-hostile", O_WRONLY | O_CREAT, 0644));
  tell("write into var", open("/var/tmp/runnel-hostile", O_WRONLY | O_CREAT, 0644));
  snprintf(path, sizeof path, "%s.old", database);
  tell("rename the database", rename(database, path));
  tell("unlink the database", unlink(database));
  tell("make a folder", mkdir("/tmp/runnel-hostile.d", 0755));
  tell("make a link", symlink("/etc/passwd", "/tmp/runnel-hostile.l"));
  tell("chmod", chmod(database, 0777));
  try_process_files("the server", getppid());
  try_process_files("init", 1);
}

static void try_network(void) {
  struct sockaddr_in to = {
      .sin_family = AF_INET, .sin_port = htons(80), .sin_addr = {htonl(INADDR_LOOPBACK)}};
  int pair[2];
  tell("socket", socket(AF_INET, SOCK_STREAM, 0));
  tell("datagram socket", socket(AF_INET, SOCK_DGRAM, 0));
  tell("socket of IPv6", socket(AF_INET6, SOCK_STREAM, 0));
  tell("local socket", socket(AF_UNIX, SOCK_STREAM, 0));
  tell("pair of datagram sockets", socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
  tell("connect", connect(kConnection, (struct sockaddr*)&to, sizeof to));
  tell("listen", listen(kConnection, 1));
}

static void try_memory(void) {
  void* const got = mmap(NULL, (size_t)1 << 30, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  tell("a gigabyte of memory", got == MAP_FAILED ? -1 : 0);
}

static int try_everything(void) {
  if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != 2) return 12;
  begin("true");
  printf("\"data\":{\"uid\":\"%d %d\"", getuid() != 0, geteuid() != 0);
  try_processes();
  try_files();
  try_network();
  try_memory();
  printf("}");
  return end();
}

// --- What it says about itself. Backwards, so that a test finds what the server does with the text itself.

static char* backwards(char const* text) {
  size_t const size = strlen(text);
  char* const out = calloc(size + 1, 1);
  for (size_t i = 0; i < size; ++i)
    out[i] = text[size - 1 - i];
  return out;
}

static void complain_about_itself(void) {
  for (char** variable = environ; *variable != NULL; ++variable) {
    complain(*variable);
    complain("\n");
    complain(backwards(*variable));
    complain("\n");
  }
}

static int print_backwards(void) {
  begin("true");
  printf("\"data\":{\"environment\":[");
  for (char** variable = environ; *variable != NULL; ++variable)
    printf("%s\"%s\"", variable == environ ? "" : ",", backwards(*variable));
  printf("]}");
  return end();
}

static int print_plainly(void) {
  for (char** variable = environ; *variable != NULL; ++variable)
    printf("%s\n", *variable);
  return fflush(stdout);
}

// --- What it asks the server.

static size_t make_request(char* out, size_t most, char const* line, char const* credential,
                           char const* body) {
  char authorization[4096] = "";
  if (credential != NULL)
    snprintf(authorization, sizeof authorization, "Authorization: Bearer %s\r\n", credential);
  return (size_t)snprintf(out, most,
                          "%s HTTP/1.1\r\nHost: runnel\r\n%sContent-Type: application/json\r\n"
                          "Content-Length: %zu\r\n\r\n%s",
                          line, authorization, strlen(body), body);
}

static void post(char const* line, char const* credential, char const* body) {
  static char request[kMost + 8192];
  send_text(kConnection, request, make_request(request, sizeof request, line, credential, body));
}

// Reads one answer and prints it as {"status":…,"body":…}. The status is 0 if the connection ends before.
static void print_answer(void) {
  static char text[kMost];
  static size_t have = 0;
  char* body = NULL;
  size_t length = 0;
  for (;;) {
    text[have] = '\0';
    body = strstr(text, "\r\n\r\n");
    char* const header = strcasestr(text, "content-length:");
    if (body != NULL && header != NULL) length = strtoul(header + 15, NULL, 10);
    if (body != NULL && have >= (size_t)(body + 4 - text) + length) break;
    ssize_t const got = read(kConnection, text + have, sizeof text - 1 - have);
    if (got <= 0) {
      printf("{\"status\":0,\"body\":null}");
      return;
    }
    have += (size_t)got;
  }
  body += 4;
  printf("{\"status\":%ld,\"body\":%.*s}", strtol(text + 9, NULL, 10), length > 0 ? (int)length : 4,
         length > 0 ? body : "null");
  have -= (size_t)(body + length - text);
  memmove(text, body + length, have);
}

static int print_answers(int count) {
  begin("true");
  printf("\"data\":{\"answers\":[");
  for (int i = 0; i < count; ++i) {
    if (i > 0) printf(",");
    print_answer();
  }
  printf("]}");
  return end();
}

static int ask_twice(char const* line, char const* credential) {
  begin("true");
  printf("\"data\":{\"answers\":[");
  post(line, credential, input);
  print_answer();
  printf(",");
  post(line, credential, input);
  print_answer();
  printf("]}");
  return end();
}

// Takes effect, without a word about it.
static void ask_silently(char const* line, char const* credential) {
  char answer[4096];
  post(line, credential, input);
  if (read(kConnection, answer, sizeof answer) <= 0) _exit(8);
}

static int ask(char const* title) {
  char const* const credential = getenv(CREDENTIAL);
  char line[256];
  snprintf(line, sizeof line, "POST /api/v1/tools/%s/%s", module, method);
  if (strcmp(title, "ask another method") == 0) {
    post("POST /api/v1/tools/calendar/read", credential, "{\"mode\":\"day\",\"date\":\"2026-11-20\"}");
    return print_answers(1);
  }
  if (strcmp(title, "ask twice") == 0) return ask_twice(line, credential);
  if (strcmp(title, "ask twice at once") == 0) {
    post(line, credential, input);
    post(line, credential, input);
    return print_answers(2);
  }
  if (strcmp(title, "ask without a credential") == 0) {
    post(line, NULL, input);
    return print_answers(1);
  }
  // The location is a request line, the description a credential of somebody.
  if (strcmp(title, "ask with another credential") == 0) {
    post(line, member("description"), input);
    return print_answers(1);
  }
  if (strcmp(title, "ask for another route") == 0) {
    post(member("location"), credential, "");
    return print_answers(1);
  }
  if (strcmp(title, "ask and crash") == 0) {
    ask_silently(line, credential);
    abort();
  }
  if (strcmp(title, "ask and deny it") == 0) {
    ask_silently(line, credential);
    begin("false");
    printf("\"error\":{\"code\":\"NOT_DONE\",\"message\":\"nothing has happened\"}");
    return end();
  }
  if (strcmp(title, "ask half") == 0 || strcmp(title, "ask half and hang") == 0) {
    char request[8192];
    size_t const size = make_request(request, sizeof request, line, credential, input);
    send_text(kConnection, request, size / 2);
    if (strcmp(title, "ask half") != 0) pause();
    return 9;
  }
  return 11;
}

// --- The rest.

static void flood(int descriptor) {
  static char block[1 << 16];
  memset(block, 'x', sizeof block);
  for (int i = 0; i < 1 << 14; ++i)
    send_text(descriptor, block, sizeof block);
}

static int misbehave(char const* title) {
  if (strcmp(title, "hang") == 0)
    for (;;)
      pause();
  if (strcmp(title, "abort") == 0) abort();
  if (strcmp(title, "crash") == 0) *(volatile int*)8 = 1;
  if (strcmp(title, "flood") == 0) flood(STDOUT_FILENO);
  if (strcmp(title, "flood of errors") == 0) flood(STDERR_FILENO);
  if (strcmp(title, "garbage") == 0) send_text(STDOUT_FILENO, "\xff\x00\x1b[2J{{{", 10);
  if (strcmp(title, "two documents") == 0) {
    for (int i = 0; i < 2; ++i) {
      begin("true");
      printf("\"data\":{}");
      end();
    }
  }
  if (strcmp(title, "another method") == 0)
    say("{\"ok\":true,\"module\":\"calendar\",\"method\":\"wipe\",\"data\":{}}");
  if (strcmp(title, "no code") == 0) {
    begin("false");
    printf("\"error\":{\"message\":\"no\"}");
    end();
  }
  if (strcmp(title, "exit 9") == 0) return 9;
  if (strcmp(title, "exit 126") == 0) return 126;
  if (strcmp(title, "close the connection") == 0) {
    close(kConnection);
    usleep(20000);
    return 9;
  }
  if (strcmp(title, "close everything and hang") == 0) {
    close_range(0, ~0U, 0);
    for (;;)
      pause();
  }
  if (strcmp(title, "try") == 0) return try_everything();
  if (strcmp(title, "tell backwards") == 0) return print_backwards();
  if (strcmp(title, "tell") == 0) return complain_about_itself(), print_plainly();
  if (strcmp(title, "tell and crash") == 0) complain_about_itself(), abort();
  if (strcmp(title, "tell and hang") == 0) {
    complain_about_itself();
    for (;;)
      pause();
  }
  if (strncmp(title, "ask", 3) == 0) return ask(title);
  return 0;
}

int main(int argc, char** argv) {
  confine_self(argv);
  if (argc == 2 && strcmp(argv[1], "--version") == 0) return say(VERSION "\n"), 0;
  if (argc > 2) module = argv[1], method = argv[2];
  size_t have = 0;
  ssize_t got = 0;
  while (have < sizeof input - 1 && (got = read(STDIN_FILENO, input + have, sizeof input - 1 - have)) > 0)
    have += (size_t)got;
  return misbehave(member("title"));
}
