#pragma once
#include <usbmuxd.h>
