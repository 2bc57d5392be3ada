#pragma once
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/types.h>

/* The C library shows these only with _GNU_SOURCE, which Swift's own module of it is built without. */
int accept4(int fd, struct sockaddr *address, socklen_t *size, int flags);
int pipe2(int fds[2], int flags);
ssize_t splice(int from, off_t *from_offset, int to, off_t *to_offset, size_t size, unsigned flags);
