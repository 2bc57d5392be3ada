#pragma once

/* A TCP stack over IPv6 in this process, for the packets of phones' tunnels: lwIP behind opaque handles. */

/* Starts the stack's one thread; later calls do nothing. It cannot be stopped. */
void ctunnel_start(void);
