#include "internal.h"

#include <stdlib.h>

enum {
  /* A peer that went silent is noticed after 15 s and four probes at 5 s. */
  KEEPALIVE_IDLE_MS = 15000,
  KEEPALIVE_INTERVAL_MS = 5000,
  KEEPALIVE_COUNT = 4,
};

static void on_failed(void *argument, err_t error);

/* Within a batch of packets whoever waits is woken once, after the last of them. */
static void touch(ctunnel_connection *connection) {
  if (!receiving) {
    signal_raise(&connection->changed);
  } else if (!connection->is_touched) {
    connection->is_touched = true;
    connection->next_touched = receiving->touched;
    receiving->touched = connection;
  }
}

bool connection_postpones(const struct tcp_pcb *pcb) {
  ctunnel_connection *connection = pcb->callback_arg;
  /* One that nobody has accepted yet still has its listener's argument. */
  if (pcb->errf != on_failed || !connection) return false;
  connection->owes_acknowledgement = true;
  touch(connection);
  return true;
}

void connection_settle(ctunnel_connection *connection) {
  struct tcp_pcb *pcb = connection->pcb;
  /* lwIP holds the last acknowledgement back for up to 250 ms, and a peer with Nagle's algorithm its answer's tail
     for as long. */
  if (pcb && (connection->owes_acknowledgement || (pcb->flags & TF_ACK_DELAY))) {
    tcp_ack_now(pcb);
    tcp_output(pcb);
  }
  connection->owes_acknowledgement = false;
  signal_raise(&connection->changed);
}

err_t connection_connected(void *argument, struct tcp_pcb *pcb, err_t error) {
  LWIP_UNUSED_ARG(pcb);
  LWIP_UNUSED_ARG(error);
  ctunnel_connection *connection = argument;
  connection->is_connected = true;
  touch(connection);
  return ERR_OK;
}

static err_t on_received(void *argument, struct tcp_pcb *pcb, struct pbuf *packet, err_t error) {
  LWIP_UNUSED_ARG(pcb);
  LWIP_UNUSED_ARG(error);
  ctunnel_connection *connection = argument;
  if (packet) {
    /* Never refused while memory lasts: the window is no wider than the inbox. */
    if (!inbox_append(&connection->inbox, packet)) return ERR_MEM;
    pbuf_free(packet);
  } else {
    connection->peer_has_ended = true;
    /* With both directions ended the pcb lives on for its goodbyes, and lwIP frees it without a word. */
    if (connection->sending_has_ended) connection_detach(connection);
  }
  touch(connection);
  return ERR_OK;
}

static err_t on_sent(void *argument, struct tcp_pcb *pcb, u16_t count) {
  LWIP_UNUSED_ARG(count);
  ctunnel_connection *connection = argument;
  if (connection->is_short_of_room && connection_has_room(pcb)) {
    connection->is_short_of_room = false;
    touch(connection);
  }
  return ERR_OK;
}

/* The pcb is gone already. */
static void on_failed(void *argument, err_t error) {
  ctunnel_connection *connection = argument;
  connection->pcb = NULL;
  connection_fail(connection, error == ERR_RST && !connection->is_connected ? CTUNNEL_REFUSED : CTUNNEL_CLOSED);
}

ctunnel_connection *connection_new(ctunnel_interface *interface) {
  ctunnel_connection *connection = calloc(1, sizeof *connection);
  if (!connection) return NULL;
  signal_init(&connection->changed);
  connection->interface = interface;
  connection->next = interface->connections;
  if (connection->next) connection->next->previous = connection;
  interface->connections = connection;
  return connection;
}

void connection_adopt(ctunnel_connection *connection, struct tcp_pcb *pcb) {
  connection->pcb = pcb;
  connection->local_port = pcb->local_port;
  tcp_arg(pcb, connection);
  tcp_recv(pcb, on_received);
  tcp_sent(pcb, on_sent);
  tcp_err(pcb, on_failed);
  /* The opening of RemoteXPC is many small writes. */
  tcp_nagle_disable(pcb);
  ip_set_option(pcb, SOF_KEEPALIVE);
  pcb->keep_idle = KEEPALIVE_IDLE_MS;
  pcb->keep_intvl = KEEPALIVE_INTERVAL_MS;
  pcb->keep_cnt = KEEPALIVE_COUNT;
}

void connection_detach(ctunnel_connection *connection) {
  struct tcp_pcb *pcb = connection->pcb;
  if (!pcb) return;
  tcp_arg(pcb, NULL);
  tcp_recv(pcb, NULL);
  tcp_sent(pcb, NULL);
  tcp_err(pcb, NULL);
  connection->pcb = NULL;
}

void connection_fail(ctunnel_connection *connection, int failure) {
  if (connection->failure == 0) connection->failure = failure;
  touch(connection);
}

void connection_finish(ctunnel_connection *connection) {
  struct tcp_pcb *pcb = connection->pcb;
  connection_detach(connection);
  if (pcb && tcp_close(pcb) != ERR_OK) tcp_abort(pcb);
  connection->peer_has_ended = connection->sending_has_ended = true;
  touch(connection);
}

void connection_destroy(ctunnel_connection *connection) {
  connection_finish(connection);
  if (connection->next) connection->next->previous = connection->previous;
  if (connection->previous) {
    connection->previous->next = connection->next;
  } else if (connection->interface) {
    connection->interface->connections = connection->next;
  }
  inbox_destroy(&connection->inbox);
  signal_destroy(&connection->changed);
  free(connection);
}
