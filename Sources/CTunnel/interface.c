#include "internal.h"

#include <stdlib.h>
#include <string.h>

enum {
  HEADER = 40,
  TCP_HEADER = 20,
  NEXT_IS_TCP = 6,
  /* Our segments have at most 1460 bytes. */
  LARGEST_SENT = 1600,
  /* Connections of one tunnel, with those that say goodbye; a peer's SYN beyond them is dropped. */
  MOST_CONNECTIONS = 1024,
};

static size_t interfaces;
/* Whose packets are being taken in. Everything that lwIP sends meanwhile is an answer to them and goes the same way:
   a reset for a port on which nobody listens belongs to no connection, and would be routed by address alone, which
   two tunnels may share. */
ctunnel_interface *receiving;

/* lwIP acknowledges every other segment. Of a batch's acknowledgements only the last says something, and that one leaves
   at the batch's end: each would be a write of its own, and a turn of the sender's threads.
   The connection whose segment was taken in last is the first of lwIP's list. */
static bool is_postponed(const struct pbuf *packet) {
  const uint8_t *tcp = (const uint8_t *)packet->payload + HEADER;
  const struct tcp_pcb *pcb = tcp_active_pcbs;
  if (!receiving || packet->tot_len != HEADER + TCP_HEADER || tcp[13] != TCP_ACK || !pcb) return false;
  if (pcb->netif_idx != netif_get_index(&receiving->netif) || pcb->state != ESTABLISHED) return false;
  if (pcb->local_port != (tcp[0] << 8 | tcp[1]) || pcb->remote_port != (tcp[2] << 8 | tcp[3])) return false;
  return connection_postpones(pcb);
}

static err_t send_packet(struct netif *netif, struct pbuf *packet, const ip6_addr_t *next) {
  LWIP_UNUSED_ARG(next);
  ctunnel_interface *interface = receiving ? receiving : netif->state;
  if (interface->is_closed) return ERR_IF;
  if (!packet->next && is_postponed(packet)) return ERR_OK;
  uint8_t copy[LARGEST_SENT];
  const uint8_t *bytes = packet->payload;
  if (packet->next) {
    if (packet->tot_len > sizeof copy) return ERR_BUF;
    pbuf_copy_partial(packet, copy, packet->tot_len, 0);
    bytes = copy;
  }
  if (interface->output(interface->context, bytes, packet->tot_len)) return ERR_OK;
  /* lwIP keeps the segment and tries again when it is asked to. */
  interface->was_refused = true;
  return ERR_MEM;
}

static err_t set_up(struct netif *netif) {
  /* No link address, no neighbours, no multicast: a packet goes to the one peer there is. */
  netif->flags = NETIF_FLAG_LINK_UP;
  netif->output_ip6 = send_packet;
  netif->name[0] = 'c';
  netif->name[1] = 't';
  return ERR_OK;
}

ctunnel_interface *ctunnel_interface_new(
    const uint8_t *own, const uint8_t *peer, uint16_t mtu, ctunnel_output output, void *context) {
  ctunnel_start();
  ctunnel_interface *interface = calloc(1, sizeof *interface);
  if (!interface) return NULL;
  memcpy(interface->own, own, sizeof interface->own);
  memcpy(interface->peer, peer, sizeof interface->peer);
  interface->output = output;
  interface->context = context;
  LOCK_TCPIP_CORE();
  bool has_room = interfaces < CTUNNEL_MOST_INTERFACES;
  if (has_room && netif_add_noaddr(&interface->netif, interface, set_up, netif_input)) {
    struct netif *netif = &interface->netif;
    ip_addr_t address = address_from(own);
    interfaces++;
    netif->mtu = mtu;
#if LWIP_ND6_ALLOW_RA_UPDATES
    netif->mtu6 = mtu;
#endif
    netif_set_ip6_autoconfig_enabled(netif, 0);
    netif_ip6_addr_set(netif, 0, ip_2_ip6(&address));
    /* Preferred at once: nobody else could have this address. */
    netif_ip6_addr_set_state(netif, 0, IP6_ADDR_PREFERRED);
    netif_set_up(netif);
    netif->rs_count = 0;
  } else {
    has_room = false;
  }
  UNLOCK_TCPIP_CORE();
  if (!has_room) {
    free(interface);
    return NULL;
  }
  signal_init(&interface->accepted);
  return interface;
}

/* A pcb of the list that is bound to the interface. */
static struct tcp_pcb *bound_to(ctunnel_interface *interface, struct tcp_pcb *list) {
  while (list && list->netif_idx != netif_get_index(&interface->netif)) list = list->next;
  return list;
}

static size_t count_bound(ctunnel_interface *interface, struct tcp_pcb *list) {
  size_t count = 0;
  for (list = bound_to(interface, list); list; list = bound_to(interface, list->next)) count++;
  return count;
}

void interface_abandon(ctunnel_interface *interface) {
  struct tcp_pcb *pcb;
  /* Also those that no handle points to any more: a number is given to a later interface, with all that is bound to it. */
  while ((pcb = bound_to(interface, tcp_active_pcbs))) tcp_abandon(pcb, 0);
  while ((pcb = bound_to(interface, tcp_tw_pcbs))) tcp_abandon(pcb, 0);
  while ((pcb = bound_to(interface, tcp_bound_pcbs))) tcp_abandon(pcb, 0);
  while ((pcb = bound_to(interface, tcp_listen_pcbs.pcbs))) tcp_close(pcb);
}

void ctunnel_interface_close(ctunnel_interface *interface) {
  LOCK_TCPIP_CORE();
  if (!interface->is_closed) {
    interface->is_closed = true;
    interfaces--;
    interface_abandon(interface);
    interface_drop_waiting(interface);
    while (interface->connections) {
      ctunnel_connection *connection = interface->connections;
      connection_fail(connection, CTUNNEL_CLOSED);
      interface->connections = connection->next;
      connection->interface = NULL;
      connection->previous = connection->next = NULL;
    }
    /* Directly, and not through netif_ip6_addr_set_state: lwIP would abort whatever uses this address, on any
       interface, and another tunnel may have the same one. */
    interface->netif.ip6_addr_state[0] = IP6_ADDR_INVALID;
    netif_remove(&interface->netif);
    signal_raise(&interface->accepted);
  }
  UNLOCK_TCPIP_CORE();
}

void ctunnel_interface_free(ctunnel_interface *interface) {
  ctunnel_interface_close(interface);
  signal_destroy(&interface->accepted);
  free(interface);
}

/* The stack's list of interfaces, while it is shown only the one whose packets are being taken in. */
static struct netif *all_interfaces, *behind;

/* A reset for a port on which nobody listens belongs to no connection and is routed by address alone. Where both ends of
   a tunnel are in one process, lwIP would find the other end's interface, take the packet for one to itself, and deliver
   it later, when that interface may be gone. With one interface in its list there is one way. */
static void show_only(ctunnel_interface *interface) {
  all_interfaces = netif_list;
  behind = interface->netif.next;
  interface->netif.next = NULL;
  netif_list = &interface->netif;
}

static void show_all(ctunnel_interface *interface) {
  interface->netif.next = behind;
  netif_list = all_interfaces;
}

void ctunnel_interface_begin(ctunnel_interface *interface) {
  LOCK_TCPIP_CORE();
  receiving = interface;
  /* A closed one is in no list any more. */
  if (!interface->is_closed) show_only(interface);
}

static bool is_ours(const ctunnel_interface *interface, const uint8_t *bytes, size_t count) {
  return count >= HEADER + TCP_HEADER && count <= UINT16_MAX && bytes[0] >> 4 == 6 &&
         (size_t)(bytes[4] << 8 | bytes[5]) + HEADER == count && bytes[6] == NEXT_IS_TCP &&
         memcmp(bytes + 8, interface->peer, 16) == 0 && memcmp(bytes + 24, interface->own, 16) == 0;
}

static bool asks_for_too_many(ctunnel_interface *interface, const uint8_t *bytes) {
  uint8_t flags = bytes[HEADER + 13];
  return (flags & TCP_SYN) && !(flags & TCP_ACK) &&
         count_bound(interface, tcp_active_pcbs) + count_bound(interface, tcp_tw_pcbs) >= MOST_CONNECTIONS;
}

void ctunnel_interface_input(ctunnel_interface *interface, const uint8_t *bytes, size_t count) {
  /* lwIP forwards between interfaces. What is not from this peer to this address must not reach it. */
  if (interface->is_closed || !is_ours(interface, bytes, count) || asks_for_too_many(interface, bytes)) {
    interface->dropped++;
    return;
  }
  /* PBUF_RAM: a pbuf from the pool ended in a damaged heap with Debian's build. */
  struct pbuf *packet = pbuf_alloc(PBUF_RAW, (uint16_t)count, PBUF_RAM);
  if (!packet) return;
  pbuf_take(packet, bytes, (uint16_t)count);
  /* Straight in, under the lock: no mailbox that can be full, and no other thread to wake. */
  if (ip6_input(packet, &interface->netif) != ERR_OK) pbuf_free(packet);
}

void ctunnel_interface_end(ctunnel_interface *interface) {
  /* What leaves from here on belongs to a connection, and is no longer postponed. */
  receiving = NULL;
  while (interface->touched) {
    ctunnel_connection *connection = interface->touched;
    interface->touched = connection->next_touched;
    connection->is_touched = false;
    connection_settle(connection);
  }
  if (!interface->is_closed) show_all(interface);
  UNLOCK_TCPIP_CORE();
}

void ctunnel_interface_resume(ctunnel_interface *interface) {
  LOCK_TCPIP_CORE();
  if (interface->was_refused && !interface->is_closed) {
    interface->was_refused = false;
    struct tcp_pcb *pcb = bound_to(interface, tcp_active_pcbs);
    for (; pcb; pcb = bound_to(interface, pcb->next)) tcp_output(pcb);
  }
  UNLOCK_TCPIP_CORE();
}

void ctunnel_interface_finish(ctunnel_interface *interface) {
  LOCK_TCPIP_CORE();
  ctunnel_connection *connection = interface->connections;
  for (; connection; connection = connection->next) connection_finish(connection);
  UNLOCK_TCPIP_CORE();
}

uint64_t ctunnel_interface_dropped(ctunnel_interface *interface) {
  LOCK_TCPIP_CORE();
  uint64_t dropped = interface->dropped;
  UNLOCK_TCPIP_CORE();
  return dropped;
}

size_t ctunnel_interface_connections(ctunnel_interface *interface) {
  LOCK_TCPIP_CORE();
  size_t count = interface->is_closed ? 0 : count_bound(interface, tcp_active_pcbs);
  UNLOCK_TCPIP_CORE();
  return count;
}

bool ctunnel_interface_has_unsent(ctunnel_interface *interface) {
  LOCK_TCPIP_CORE();
  struct tcp_pcb *pcb = interface->is_closed ? NULL : bound_to(interface, tcp_active_pcbs);
  while (pcb && !pcb->unsent && !(pcb->flags & TF_CLOSEPEND)) pcb = bound_to(interface, pcb->next);
  UNLOCK_TCPIP_CORE();
  return pcb != NULL;
}
