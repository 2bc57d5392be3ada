#include "internal.h"

/* Connections that came and were not accepted yet; a further one is reset. */
enum { MOST_WAITING = 128 };

err_t interface_accept(void *argument, struct tcp_pcb *pcb, err_t error) {
  ctunnel_interface *interface = argument;
  if (error != ERR_OK || !pcb) return ERR_VAL;
  if (interface->is_closed || interface->waiting >= MOST_WAITING) return ERR_MEM;
  ctunnel_connection *connection = connection_new(interface);
  if (!connection) return ERR_MEM;
  connection_adopt(connection, pcb);
  connection->is_connected = true;
  if (interface->last_waiting) {
    interface->last_waiting->next_waiting = connection;
  } else {
    interface->first_waiting = connection;
  }
  interface->last_waiting = connection;
  interface->waiting++;
  signal_raise(&interface->accepted);
  return ERR_OK;
}

static ctunnel_connection *next_waiting(ctunnel_interface *interface) {
  ctunnel_connection *connection = interface->first_waiting;
  if (!connection) return NULL;
  interface->first_waiting = connection->next_waiting;
  if (!interface->first_waiting) interface->last_waiting = NULL;
  connection->next_waiting = NULL;
  interface->waiting--;
  return connection;
}

void interface_drop_waiting(ctunnel_interface *interface) {
  ctunnel_connection *connection;
  while ((connection = next_waiting(interface))) connection_destroy(connection);
}

ctunnel_connection *ctunnel_accept(ctunnel_interface *interface, uint64_t deadline) {
  for (;;) {
    uint64_t seen = signal_changes(&interface->accepted);
    LOCK_TCPIP_CORE();
    ctunnel_connection *connection = next_waiting(interface);
    bool is_closed = interface->is_closed;
    UNLOCK_TCPIP_CORE();
    if (connection || is_closed || !signal_wait(&interface->accepted, seen, deadline)) return connection;
  }
}

static struct tcp_pcb *listener_on(ctunnel_interface *interface, uint16_t port) {
  struct tcp_pcb *pcb = tcp_listen_pcbs.pcbs;
  while (pcb && (pcb->netif_idx != netif_get_index(&interface->netif) || pcb->local_port != port)) pcb = pcb->next;
  return pcb;
}

static int listen_on(ctunnel_interface *interface, uint16_t *port) {
  if (interface->is_closed || (*port != 0 && listener_on(interface, *port))) return CTUNNEL_UNAVAILABLE;
  struct tcp_pcb *pcb = tcp_new_ip_type(IPADDR_TYPE_V6);
  if (!pcb) return CTUNNEL_UNAVAILABLE;
  ip_addr_t own = address_from(interface->own);
  tcp_bind_netif(pcb, &interface->netif);
  /* Another tunnel may have the same address and port; lwIP lets both listen only while this option is on at binding
     and off at listening. Packets find their way by interface. */
  ip_set_option(pcb, SOF_REUSEADDR);
  if (tcp_bind(pcb, &own, *port) != ERR_OK) {
    tcp_close(pcb);
    return CTUNNEL_UNAVAILABLE;
  }
  ip_reset_option(pcb, SOF_REUSEADDR);
  struct tcp_pcb *listener = tcp_listen(pcb);
  if (!listener) {
    tcp_close(pcb);
    return CTUNNEL_UNAVAILABLE;
  }
  ip_set_option(listener, SOF_REUSEADDR);
  tcp_arg(listener, interface);
  tcp_accept(listener, interface_accept);
  *port = listener->local_port;
  return 0;
}

int ctunnel_listen(ctunnel_interface *interface, uint16_t *port) {
  LOCK_TCPIP_CORE();
  int code = listen_on(interface, port);
  UNLOCK_TCPIP_CORE();
  return code;
}

void ctunnel_unlisten(ctunnel_interface *interface, uint16_t port) {
  LOCK_TCPIP_CORE();
  struct tcp_pcb *listener = interface->is_closed ? NULL : listener_on(interface, port);
  if (listener) tcp_close(listener);
  UNLOCK_TCPIP_CORE();
}
