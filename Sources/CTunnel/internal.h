#pragma once

#include "CTunnel.h"

#include <lwip/ip6.h>
#include <lwip/netif.h>
#include <lwip/pbuf.h>
#include <lwip/priv/tcp_priv.h>
#include <lwip/tcp.h>
#include <lwip/tcpip.h>
#include <pthread.h>

/* Something that threads wait on. It is never waited on with the stack's lock held. */
struct signal {
  pthread_mutex_t mutex;
  pthread_cond_t condition;
  uint64_t changes;
};

void signal_init(struct signal *signal);
void signal_destroy(struct signal *signal);
void signal_raise(struct signal *signal);
uint64_t signal_changes(struct signal *signal);
/* False at the deadline; true as soon as there were more changes than those seen. */
bool signal_wait(struct signal *signal, uint64_t seen, uint64_t deadline);

/* Bytes that came and were not read yet, in a ring that grows up to the receive window. */
struct inbox {
  uint8_t *bytes;
  size_t capacity, start, count;
};

bool inbox_append(struct inbox *inbox, const struct pbuf *packet);
size_t inbox_take(struct inbox *inbox, uint8_t *bytes, size_t max);
void inbox_destroy(struct inbox *inbox);

struct ctunnel_connection {
  /* Null once the tunnel has gone; the list below is the interface's. */
  ctunnel_interface *interface;
  ctunnel_connection *previous, *next;
  /* In the list of those touched by the packets at hand. */
  ctunnel_connection *next_touched;
  bool is_touched;
  /* In the list of those that wait to be accepted. */
  ctunnel_connection *next_waiting;
  /* Null once lwIP has freed it or it is left to lwIP alone. */
  struct tcp_pcb *pcb;
  uint16_t local_port;
  struct inbox inbox;
  bool is_connected, peer_has_ended, sending_has_ended, is_short_of_room, owes_acknowledgement;
  /* Zero while it lives; then why reading fails after the inbox, and writing. */
  int failure;
  struct signal changed;
};

struct ctunnel_interface {
  struct netif netif;
  uint8_t own[16], peer[16];
  ctunnel_output output;
  void *context;
  bool is_closed, was_refused;
  ctunnel_connection *connections, *touched;
  ctunnel_connection *first_waiting, *last_waiting;
  size_t waiting;
  struct signal accepted;
  uint64_t dropped;
};

/* The interface whose packets are being taken in; null outside of a batch. */
extern ctunnel_interface *receiving;

/* With the stack's lock held, all of them. */
ctunnel_connection *connection_new(ctunnel_interface *interface);
void connection_adopt(ctunnel_connection *connection, struct tcp_pcb *pcb);
/* Leaves the pcb to lwIP, which frees it when the goodbyes are said. */
void connection_detach(ctunnel_connection *connection);
void connection_fail(ctunnel_connection *connection, int failure);
/* False for a pcb that is left to lwIP. */
bool connection_postpones(const struct tcp_pcb *pcb);
/* Once in every batch, after all of its packets. */
void connection_settle(ctunnel_connection *connection);
bool connection_has_room(const struct tcp_pcb *pcb);
err_t connection_connected(void *argument, struct tcp_pcb *pcb, err_t error);
void connection_finish(ctunnel_connection *connection);
void connection_destroy(ctunnel_connection *connection);
err_t interface_accept(void *argument, struct tcp_pcb *pcb, err_t error);
void interface_drop_waiting(ctunnel_interface *interface);
void interface_abandon(ctunnel_interface *interface);
ip_addr_t address_from(const uint8_t *bytes);
