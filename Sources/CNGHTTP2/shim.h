#pragma once
/* The C library's types come from Swift's own module of it. Otherwise whichever module is loaded first would own them,
   and files that import Glibc alone would no longer see all of them. */
#pragma clang module import SwiftGlibc
#include <nghttp2/nghttp2.h>
