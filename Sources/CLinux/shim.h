#pragma once
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/types.h>

/* The C library shows these only with _GNU_SOURCE, which Swift's own module of it is built without. Headers that module
   holds already are not included again: their types would belong to this one. */
struct sockaddr;
int accept4(int fd, struct sockaddr *address, unsigned *size, int flags);
int pipe2(int fds[2], int flags);
int pthread_setname_np(unsigned long thread, const char *name);
ssize_t splice(int from, off_t *from_offset, int to, off_t *to_offset, size_t size, unsigned flags);
