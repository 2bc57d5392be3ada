#include "internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static pthread_once_t started = PTHREAD_ONCE_INIT;

static void start(void) {
  /* lwIP takes its first port from rand(); unseeded, every process would begin with the same one. */
  unsigned seed = 0;
  if (getrandom(&seed, sizeof seed, 0) == (ssize_t)sizeof seed) srand(seed);
  tcpip_init(NULL, NULL);
}

void ctunnel_start(void) { pthread_once(&started, start); }

ip_addr_t address_from(const uint8_t *bytes) {
  uint32_t words[4];
  ip_addr_t address = {0};
  memcpy(words, bytes, sizeof words);
  IP_ADDR6(&address, words[0], words[1], words[2], words[3]);
  return address;
}

void signal_init(struct signal *signal) {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&signal->condition, &attributes);
  pthread_condattr_destroy(&attributes);
  pthread_mutex_init(&signal->mutex, NULL);
  signal->changes = 0;
}

void signal_destroy(struct signal *signal) {
  pthread_cond_destroy(&signal->condition);
  pthread_mutex_destroy(&signal->mutex);
}

void signal_raise(struct signal *signal) {
  pthread_mutex_lock(&signal->mutex);
  signal->changes++;
  pthread_cond_broadcast(&signal->condition);
  pthread_mutex_unlock(&signal->mutex);
}

uint64_t signal_changes(struct signal *signal) {
  pthread_mutex_lock(&signal->mutex);
  uint64_t changes = signal->changes;
  pthread_mutex_unlock(&signal->mutex);
  return changes;
}

bool signal_wait(struct signal *signal, uint64_t seen, uint64_t deadline) {
  struct timespec limit = {.tv_sec = (time_t)(deadline / 1000000000u), .tv_nsec = (long)(deadline % 1000000000u)};
  pthread_mutex_lock(&signal->mutex);
  int code = 0;
  while (signal->changes == seen && code == 0) {
    code = pthread_cond_timedwait(&signal->condition, &signal->mutex, &limit);
  }
  bool has_changed = signal->changes != seen;
  pthread_mutex_unlock(&signal->mutex);
  return has_changed;
}
