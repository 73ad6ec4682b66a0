#pragma once

namespace runnel::app {

// The process holds keys, tokens and what users say: its memory is nobody else's to read. It leaves no core
// file, and no process of the same user can attach to it or read its memory and environment in /proc. What it
// inherited beside stdin, stdout and stderr does not go on to programs that it starts. First thing in main.
void guard_process();

// Marks every open descriptor but the first three close-on-exec, for libraries that open without it: of ours,
// libcurl's wake-up pair, which lives as long as its loop. All else is opened with the flag. Two stay outside
// while they live, which is a moment: the socket pair of libcurl's resolver, and OpenSSL's files of
// certificates; so whoever starts a program must close what it does not give it.
void close_all_on_exec();

}  // namespace runnel::app
