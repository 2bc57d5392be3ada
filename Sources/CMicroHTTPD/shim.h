#pragma once
/* As in CNGHTTP2: the C library's types come from Swift's own module of it. */
#pragma clang module import SwiftGlibc
#include <microhttpd.h>

/* The library's own call takes a variable number of arguments, which Swift can't make; for the descriptor it needs none. */
static inline int fleet_mhd_connection_fd(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info ? info->connect_fd : -1;
}
