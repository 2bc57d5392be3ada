#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A TCP stack over IPv6 in this process, for the packets of phones' tunnels: lwIP behind opaque handles.
 *
 * Every function may be called from any thread, and takes and gives back the stack's one lock. Only ctunnel_output
 * functions run with it held: they take a copy and return, and never call back into this interface. */

/* One end of one tunnel: an own address and one peer's. */
typedef struct ctunnel_interface ctunnel_interface;
/* One TCP connection through a tunnel. */
typedef struct ctunnel_connection ctunnel_connection;

/* Takes one outgoing packet; false: not now, ctunnel_interface_resume will be called. Runs under the stack's lock. */
typedef bool (*ctunnel_output)(void *context, const uint8_t *bytes, size_t count);

/* What a call that waits came to, where it is no count of bytes. */
enum {
  CTUNNEL_TIMED_OUT = -1,
  /* Reset by the peer, or ended from here, or the tunnel has gone. */
  CTUNNEL_CLOSED = -2,
  /* Nobody listens on the peer's port. */
  CTUNNEL_REFUSED = -3,
  /* The port is taken, or no number or memory is left. */
  CTUNNEL_UNAVAILABLE = -4,
};

/* How many interfaces may exist at once: lwIP numbers them in a byte. */
enum { CTUNNEL_MOST_INTERFACES = 250 };

/* Starts the stack's one thread; later calls do nothing. It cannot be stopped. */
void ctunnel_start(void);

/* Null when there are too many already. Addresses are sixteen bytes in network order. */
ctunnel_interface *ctunnel_interface_new(
    const uint8_t *own, const uint8_t *peer, uint16_t mtu, ctunnel_output output, void *context);
/* Fails all connections at once and sends nothing more; what was read already stays readable. */
void ctunnel_interface_close(ctunnel_interface *interface);
/* Closes and frees; connections may outlive it. After it returns, output is not called again. */
void ctunnel_interface_free(ctunnel_interface *interface);

/* Packets come in between begin and end, on one thread, which holds the stack's lock all the while. */
void ctunnel_interface_begin(ctunnel_interface *interface);
/* A packet that is not TCP between the two addresses is dropped. */
void ctunnel_interface_input(ctunnel_interface *interface, const uint8_t *bytes, size_t count);
void ctunnel_interface_end(ctunnel_interface *interface);

/* Sends what the output function refused. */
void ctunnel_interface_resume(ctunnel_interface *interface);
/* Ends all connections in an orderly way, as far as packets can still leave. */
void ctunnel_interface_finish(ctunnel_interface *interface);
/* Packets dropped on their way in. */
uint64_t ctunnel_interface_dropped(ctunnel_interface *interface);
/* Connections in the stack: also those that nobody holds any more and that are saying goodbye. */
size_t ctunnel_interface_connections(ctunnel_interface *interface);
/* Whether a connection has something to send that was not sent even once, an end included. */
bool ctunnel_interface_has_unsent(ctunnel_interface *interface);

/* Zero, or CTUNNEL_UNAVAILABLE; port 0 takes a free one. */
int ctunnel_listen(ctunnel_interface *interface, uint16_t *port);
void ctunnel_unlisten(ctunnel_interface *interface, uint16_t port);
/* The next connection to any of the ports; null at the deadline (nanoseconds of CLOCK_MONOTONIC) or when closed. */
ctunnel_connection *ctunnel_accept(ctunnel_interface *interface, uint64_t deadline);

/* Begins to connect; null and CTUNNEL_CLOSED or CTUNNEL_UNAVAILABLE when it cannot. */
ctunnel_connection *ctunnel_connect(ctunnel_interface *interface, uint16_t port, int *failure);
/* Zero once connected. */
int ctunnel_wait_connected(ctunnel_connection *connection, uint64_t deadline);
uint16_t ctunnel_local_port(ctunnel_connection *connection);

/* At least one byte and at most max; zero at the end of the stream. */
long ctunnel_read(ctunnel_connection *connection, uint8_t *bytes, size_t max, uint64_t deadline);
/* How many bytes the stack took, at least one. */
long ctunnel_write(ctunnel_connection *connection, const uint8_t *bytes, size_t count, uint64_t deadline);
/* The peer reads to its end after what was written. */
void ctunnel_end_sending(ctunnel_connection *connection);
/* Ends both directions, and reads and writes under way; in an orderly way unless unread bytes are thrown away. */
void ctunnel_shutdown(ctunnel_connection *connection);
/* Ends both directions at once; the peer sees a reset. */
void ctunnel_reset(ctunnel_connection *connection);
/* Whether both ends could still send. */
bool ctunnel_is_open(ctunnel_connection *connection);
/* Shuts down and frees; nobody may be waiting. */
void ctunnel_connection_free(ctunnel_connection *connection);
