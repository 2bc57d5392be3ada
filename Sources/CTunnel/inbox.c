#include "internal.h"

#include <stdlib.h>
#include <string.h>

/* The first bytes of a conversation are few; a screenshot fills the whole window. */
enum { SMALLEST = 2048, LARGEST = 1 << 16 };

static bool grow(struct inbox *inbox, size_t wanted) {
  size_t capacity = inbox->capacity ? inbox->capacity : SMALLEST;
  while (capacity < wanted) capacity *= 2;
  if (capacity > LARGEST) return false;
  uint8_t *bytes = malloc(capacity);
  if (!bytes) return false;
  size_t count = inbox_take(inbox, bytes, inbox->count);
  free(inbox->bytes);
  *inbox = (struct inbox){.bytes = bytes, .capacity = capacity, .start = 0, .count = count};
  return true;
}

bool inbox_append(struct inbox *inbox, const struct pbuf *packet) {
  size_t added = packet->tot_len, wanted = inbox->count + added;
  if (wanted > inbox->capacity && !grow(inbox, wanted)) return false;
  size_t end = (inbox->start + inbox->count) & (inbox->capacity - 1);
  size_t behind = inbox->capacity - end, first = added < behind ? added : behind;
  pbuf_copy_partial(packet, inbox->bytes + end, (uint16_t)first, 0);
  if (first < added) pbuf_copy_partial(packet, inbox->bytes, (uint16_t)(added - first), (uint16_t)first);
  inbox->count = wanted;
  return true;
}

size_t inbox_take(struct inbox *inbox, uint8_t *bytes, size_t max) {
  size_t count = inbox->count < max ? inbox->count : max;
  if (count == 0) return 0;
  size_t behind = inbox->capacity - inbox->start, first = count < behind ? count : behind;
  memcpy(bytes, inbox->bytes + inbox->start, first);
  memcpy(bytes + first, inbox->bytes, count - first);
  inbox->start = (inbox->start + count) & (inbox->capacity - 1);
  inbox->count -= count;
  return count;
}

void inbox_destroy(struct inbox *inbox) {
  free(inbox->bytes);
  *inbox = (struct inbox){0};
}
