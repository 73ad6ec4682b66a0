#pragma once

namespace runnel::app {

// The process holds keys, tokens and user messages, so nobody else may read its memory. After this call it
// leaves no core file, and no process of the same user can attach to it or read its memory and environment in
// /proc. Programs that it starts inherit no descriptors from the parent of this process, except stdin, stdout
// and stderr. Call it first in main.
void guard_process();

// Marks every open descriptor except the first three as close-on-exec. It is for libraries that open
// descriptors without this flag: here only libcurl's wake-up pair, which lives as long as its loop.
// Everything else is opened with the flag, with two short-lived exceptions: the socket pair of libcurl's
// resolver, and the certificate files that OpenSSL reads. So code that starts a program must close all
// descriptors that are not meant for the program.
void close_all_on_exec();

}  // namespace runnel::app
