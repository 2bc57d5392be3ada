#include "CTunnel.h"

#include <lwip/tcpip.h>
#include <pthread.h>

static pthread_once_t started = PTHREAD_ONCE_INIT;

static void start(void) { tcpip_init(NULL, NULL); }

void ctunnel_start(void) { pthread_once(&started, start); }
