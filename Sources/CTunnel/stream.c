#include "internal.h"

#include <stdlib.h>

/* A writer that waits is woken when the stack takes this much again, and not for every acknowledgement. */
enum { ROOM = TCP_SND_BUF / 2 };

bool connection_has_room(const struct tcp_pcb *pcb) {
  return tcp_sndbuf(pcb) >= ROOM && tcp_sndqueuelen(pcb) <= TCP_SND_QUEUELEN / 2;
}

static ctunnel_connection *begin(ctunnel_interface *interface, uint16_t port, int *failure) {
  *failure = interface->is_closed ? CTUNNEL_CLOSED : CTUNNEL_UNAVAILABLE;
  struct tcp_pcb *pcb = interface->is_closed ? NULL : tcp_new_ip_type(IPADDR_TYPE_V6);
  if (!pcb) return NULL;
  ctunnel_connection *connection = connection_new(interface);
  if (!connection) {
    tcp_close(pcb);
    return NULL;
  }
  connection_adopt(connection, pcb);
  /* By interface and never by route: another tunnel may have the same addresses. */
  tcp_bind_netif(pcb, &interface->netif);
  /* Allows a listener of such a tunnel the same port. */
  ip_set_option(pcb, SOF_REUSEADDR);
  pcb->local_ip = address_from(interface->own);
  ip_addr_t peer = address_from(interface->peer);
  if (tcp_connect(pcb, &peer, port, connection_connected) != ERR_OK) {
    connection_destroy(connection);
    return NULL;
  }
  connection->local_port = pcb->local_port;
  *failure = 0;
  return connection;
}

ctunnel_connection *ctunnel_connect(ctunnel_interface *interface, uint16_t port, int *failure) {
  LOCK_TCPIP_CORE();
  ctunnel_connection *connection = begin(interface, port, failure);
  UNLOCK_TCPIP_CORE();
  return connection;
}

int ctunnel_wait_connected(ctunnel_connection *connection, uint64_t deadline) {
  for (;;) {
    uint64_t seen = signal_changes(&connection->changed);
    LOCK_TCPIP_CORE();
    bool is_connected = connection->is_connected;
    int failure = connection->failure ? connection->failure : connection->sending_has_ended ? CTUNNEL_CLOSED : 0;
    UNLOCK_TCPIP_CORE();
    if (failure) return failure;
    if (is_connected) return 0;
    if (!signal_wait(&connection->changed, seen, deadline)) return CTUNNEL_TIMED_OUT;
  }
}

uint16_t ctunnel_local_port(ctunnel_connection *connection) { return connection->local_port; }

/* Bytes read, zero at the end, or a failure; CTUNNEL_TIMED_OUT when there is nothing yet. */
static long take(ctunnel_connection *connection, uint8_t *bytes, size_t max) {
  /* What came before the end, or before the tunnel went, is still good. */
  size_t count = inbox_take(&connection->inbox, bytes, max < UINT16_MAX ? max : UINT16_MAX);
  if (count > 0 && connection->pcb) tcp_recved(connection->pcb, (uint16_t)count);
  if (count > 0) return (long)count;
  if (connection->peer_has_ended) return 0;
  return connection->failure ? connection->failure : CTUNNEL_TIMED_OUT;
}

long ctunnel_read(ctunnel_connection *connection, uint8_t *bytes, size_t max, uint64_t deadline) {
  for (;;) {
    uint64_t seen = signal_changes(&connection->changed);
    LOCK_TCPIP_CORE();
    long count = take(connection, bytes, max);
    UNLOCK_TCPIP_CORE();
    if (count != CTUNNEL_TIMED_OUT || !signal_wait(&connection->changed, seen, deadline)) return count;
  }
}

/* Bytes taken, or a failure; CTUNNEL_TIMED_OUT when there is no room. */
static long put(ctunnel_connection *connection, const uint8_t *bytes, size_t count) {
  if (connection->failure) return connection->failure;
  struct tcp_pcb *pcb = connection->pcb;
  if (!pcb || connection->sending_has_ended) return CTUNNEL_CLOSED;
  size_t room = tcp_sndbuf(pcb);
  if (room >= count || connection_has_room(pcb)) {
    uint16_t part = (uint16_t)(count < room ? count : room);
    if (tcp_write(pcb, bytes, part, TCP_WRITE_FLAG_COPY) == ERR_OK) {
      tcp_output(pcb);
      return part;
    }
  }
  connection->is_short_of_room = true;
  return CTUNNEL_TIMED_OUT;
}

long ctunnel_write(ctunnel_connection *connection, const uint8_t *bytes, size_t count, uint64_t deadline) {
  for (;;) {
    uint64_t seen = signal_changes(&connection->changed);
    LOCK_TCPIP_CORE();
    long taken = put(connection, bytes, count);
    UNLOCK_TCPIP_CORE();
    if (taken != CTUNNEL_TIMED_OUT || !signal_wait(&connection->changed, seen, deadline)) return taken;
  }
}

void ctunnel_end_sending(ctunnel_connection *connection) {
  LOCK_TCPIP_CORE();
  if (!connection->sending_has_ended) {
    connection->sending_has_ended = true;
    struct tcp_pcb *pcb = connection->pcb;
    if (pcb && tcp_shutdown(pcb, 0, 1) == ERR_OK && connection->peer_has_ended) connection_detach(connection);
    signal_raise(&connection->changed);
  }
  UNLOCK_TCPIP_CORE();
}

void ctunnel_shutdown(ctunnel_connection *connection) {
  LOCK_TCPIP_CORE();
  connection_finish(connection);
  inbox_destroy(&connection->inbox);
  UNLOCK_TCPIP_CORE();
}

void ctunnel_reset(ctunnel_connection *connection) {
  LOCK_TCPIP_CORE();
  struct tcp_pcb *pcb = connection->pcb;
  connection_detach(connection);
  if (pcb) tcp_abort(pcb);
  inbox_destroy(&connection->inbox);
  connection_fail(connection, CTUNNEL_CLOSED);
  UNLOCK_TCPIP_CORE();
}

bool ctunnel_is_open(ctunnel_connection *connection) {
  LOCK_TCPIP_CORE();
  bool is_open = connection->pcb && connection->is_connected && !connection->failure && !connection->peer_has_ended &&
                 !connection->sending_has_ended;
  UNLOCK_TCPIP_CORE();
  return is_open;
}

void ctunnel_connection_free(ctunnel_connection *connection) {
  LOCK_TCPIP_CORE();
  connection_destroy(connection);
  UNLOCK_TCPIP_CORE();
}
